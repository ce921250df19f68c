// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "device/host/root.h"

namespace everywatt::host {

// The pids in the text of /proc/PID/task/TID/children, appended to `pids`.
void parse_children(std::string_view text, std::vector<std::uint32_t>& pids);

// All processes below `pid`, at most `limit`, by asking each thread of each of them for the
// children that it made. Costs a file read a thread, so it is not for every second. Without the
// kernel's CONFIG_PROC_CHILDREN there are none.
std::vector<std::uint32_t> list_descendants(const Root& root, std::uint32_t pid, std::size_t limit);

}  // namespace everywatt::host
