// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "read/view/processes.h"

namespace everywatt::view {

// What the OS says about each GPU process at `time_ns`, by pid. One pass over the last 30 s of
// rows. A pid whose newest row is older than that is not in it.
std::map<std::uint64_t, HostUse> read_host_use(const View& view, std::int64_t time_ns);

}  // namespace everywatt::view
