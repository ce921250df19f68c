// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "catalog/reading.h"

namespace everywatt::hostwatch {

// Why a reading is missing when the file that it comes from could not be read. The one place where
// the operating system's reasons become ours.
catalog::State state_of(base::Code code);

}  // namespace everywatt::hostwatch
