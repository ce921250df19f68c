// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace everywatt::host {

// What one line of /proc/PID/stat tells.
struct ProcessLine {
  std::uint32_t pid = 0;
  std::string_view name;  // as the process set it: any bytes, at most 15 of them; into the text
  char state = '?';       // R running, S sleeping, D waiting for a device, Z ended, T stopped, ...
  std::uint32_t parent = 0;
  double user_seconds = 0;
  double system_seconds = 0;
  // Of children that ended and were waited for, and of theirs.
  double ended_children_seconds = 0;
  std::uint32_t threads = 0;
  // Ticks since boot: with pid and boot it names a process for good.
  std::uint64_t start_ticks = 0;
  std::uint64_t resident_pages = 0;
};

// kCorrupt when it is not such a line.
base::Result<ProcessLine> parse_process_line(std::string_view text);

}  // namespace everywatt::host
