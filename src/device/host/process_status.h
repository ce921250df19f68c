// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace everywatt::host {

// What /proc/PID/status tells beside the line of /proc/PID/stat.
struct ProcessStatus {
  std::uint32_t user_id = 0;                      // the effective one
  std::optional<std::uint32_t> pid_in_container;  // in its innermost pid namespace, if not ours
  std::optional<std::uint64_t> resident_bytes;    // kernel threads have none
  std::optional<std::uint64_t> peak_bytes;        // the most resident memory it ever had
  std::uint32_t threads = 0;
  std::string_view allowed_cpus;  // "0-15,32": a view into the text
};

// kCorrupt when there is no user. Linux before 4.1 tells no pid of a container.
base::Result<ProcessStatus> parse_process_status(std::string_view status);

// How many CPUs a list like "0-3,8,10-11" names; nothing when it is not one or names over 65536.
std::optional<unsigned> count_cpus(std::string_view cpu_list);

}  // namespace everywatt::host
