// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "read/view/view.h"
#include "serve/web/target.h"

namespace everywatt::web {

// What /api/v1/series answers, one line of JSON: ?metric= (any of its names), &gpu= (index, UUID,
// PCI address; may be left out where there is one), &instance= (where the metric has several: a
// link, fan, code), &since= (a duration back from now, 5m), &step= (a duration; 0: every row; left
// out: 1s). A point is [unix seconds, value], or [unix seconds, null, "state"] where it became
// absent. kInvalidArgument, kNotFound: what is wrong with the question.
base::Result<std::string> answer_series(const view::View& view, const Target& target,
                                        const std::string& note);

}  // namespace everywatt::web
