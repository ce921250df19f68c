// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace everywatt::base {

// Nanoseconds of CLOCK_BOOTTIME: monotonic, counts through suspend, the same for every process of
// one boot. All order and all windows use it.
std::int64_t boottime_ns();

// Nanoseconds since 1970 (UTC). For people and for other programs' stamps only: it may jump.
std::int64_t walltime_ns();

// CPU time of this process and of the calling thread, in nanoseconds.
std::int64_t process_cpu_ns();
std::int64_t thread_cpu_ns();

// A source of boottime_ns() that a test can replace.
using Clock = std::function<std::int64_t()>;

// RFC 3339 with milliseconds in the machine's zone, e.g. 2026-12-02T06:14:18.123+08:00.
std::string format_time(std::int64_t wall_ns);
// HH:MM:SS.mmm in the machine's zone.
std::string format_time_of_day(std::int64_t wall_ns);

}  // namespace everywatt::base
