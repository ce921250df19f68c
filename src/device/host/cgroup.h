// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/host/root.h"

namespace everywatt::host {

// One line of /proc/PID/cgroup. Version 2 has no controllers. Views into the text.
struct CgroupLine {
  std::string_view controllers;  // "cpu,cpuacct", "name=systemd"
  std::string_view path;         // "/system.slice/..."
};
std::vector<CgroupLine> parse_cgroup_lines(std::string_view proc_cgroup);

// The path that names a process's control group: version 2's if it is more than "/", else that of
// version 1's memory, else "/".
std::string_view main_path(const std::vector<CgroupLine>& lines);

// What a control group grants and took, from its folders. Absent: no limit of that kind, or a file
// that this kernel does not have; `reason` then says which.
struct CgroupLimits {
  std::optional<double> cpu_quota_cores;  // the tightest from here to the root
  std::optional<double> cpu_seconds;
  std::optional<double> throttled_seconds;          // where that quota is set
  std::optional<std::uint64_t> memory_limit_bytes;  // the tightest
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> memory_limit_events;  // times it met its limit and had to reclaim
  std::optional<std::uint64_t> out_of_memory_kills;
  std::optional<unsigned> allowed_cpus;
  // kNotFound: no such group below this root. kNoPermission.
  std::optional<base::Code> failure;
};

// Reads them below /sys/fs/cgroup, either version, also the two mixed. A path that leaves the mount
// ("/..", the group of a process outside of our namespace) is kNotFound.
CgroupLimits read_cgroup_limits(const Root& root, std::string_view proc_cgroup);

// "200000 100000" -> 2 cores; "max 100000" -> none.
std::optional<double> parse_cpu_max(std::string_view cpu_max);

}  // namespace everywatt::host
