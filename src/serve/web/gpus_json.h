// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/glossary.h"
#include "read/view/device.h"
#include "read/view/view.h"
#include "serve/web/target.h"

namespace everywatt::web {

// What /api/v1/gpus was asked for.
struct GpusQuery {
  std::vector<catalog::MetricId> metrics;
  catalog::Lang language = catalog::Lang::kEn;
};

// ?metric=A,B (any names; left out: every metric of one value of a GPU), ?lang=en|zh for the words
// of absent readings. kInvalidArgument, kNotFound.
base::Result<GpusQuery> parse_gpus_query(const Target& target);

// One line of JSON: every GPU and MIG instance with its latest readings, absent ones with their
// reason, and the processes as the driver lists them: pids and memory, never who or what they are.
std::string format_gpus(const view::View& view, const GpusQuery& query, const std::string& note);

}  // namespace everywatt::web
