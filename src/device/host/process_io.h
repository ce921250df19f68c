// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace everywatt::host {

// What a process asked of disks since its start, from /proc/PID/io: with the threads that ended and
// the children that it waited for. Only its user, and who may trace it, can read it.
struct ProcessIo {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};
base::Result<ProcessIo> parse_process_io(std::string_view io);

}  // namespace everywatt::host
