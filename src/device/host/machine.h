// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace everywatt::host {

// The machine as a whole: pure functions from the text of a file in /proc to base units. An absent
// part of a file is an empty optional; a file that is not what it should be is kCorrupt.

// Seconds since boot that all CPUs together spent, from /proc/stat. Each only grows (iowait and
// idle may step back a little on some kernels).
struct CpuTime {
  double user_seconds = 0;  // with that of guests
  double nice_seconds = 0;
  double system_seconds = 0;
  double idle_seconds = 0;
  double iowait_seconds = 0;
  double irq_seconds = 0;
  double softirq_seconds = 0;
  double steal_seconds = 0;
  unsigned cpus = 0;        // online
  std::uint64_t forks = 0;  // processes and threads made since boot
};
base::Result<CpuTime> parse_cpu_time(std::string_view proc_stat);

// /proc/meminfo.
struct Memory {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t cached_bytes = 0;
  std::uint64_t shared_bytes = 0;
  std::uint64_t swap_total_bytes = 0;
  std::uint64_t swap_free_bytes = 0;
};
base::Result<Memory> parse_memory(std::string_view meminfo);

// /proc/loadavg.
struct Load {
  double minutes_1 = 0;
  double minutes_5 = 0;
  double minutes_15 = 0;
};
base::Result<Load> parse_load(std::string_view loadavg);

// /proc/pressure/{cpu,memory,io}: how long, since boot, some or all tasks waited for the resource.
struct Pressure {
  double some_seconds = 0;
  std::optional<double> full_seconds;  // old kernels have none for cpu
};
base::Result<Pressure> parse_pressure(std::string_view pressure);

// Seconds since boot, from /proc/uptime.
base::Result<double> parse_uptime(std::string_view uptime);

// "fa21fa22-425a-..." from /proc/sys/kernel/random/boot_id; kCorrupt unless it is a UUID.
base::Result<std::string_view> parse_boot_id(std::string_view boot_id);

}  // namespace everywatt::host
