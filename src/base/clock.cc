// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "base/check.h"

namespace everywatt::base {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t read_clock(clockid_t id) {
  timespec now{};
  CHECK(clock_gettime(id, &now) == 0);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

struct LocalTime {
  tm parts{};
  int millis = 0;
};

LocalTime to_local(std::int64_t wall_ns) {
  LocalTime out;
  std::int64_t seconds = wall_ns / kNsPerSecond;
  std::int64_t rest_ns = wall_ns % kNsPerSecond;
  if (rest_ns < 0) {
    rest_ns += kNsPerSecond;
    --seconds;
  }
  const time_t t = seconds;
  localtime_r(&t, &out.parts);
  out.millis = static_cast<int>(rest_ns / 1'000'000);
  return out;
}

}  // namespace

std::int64_t boottime_ns() {
  return read_clock(CLOCK_BOOTTIME);
}
std::int64_t walltime_ns() {
  return read_clock(CLOCK_REALTIME);
}
std::int64_t process_cpu_ns() {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
std::int64_t thread_cpu_ns() {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

std::string format_time(std::int64_t wall_ns) {
  const LocalTime local = to_local(wall_ns);
  const tm& p = local.parts;
  const long offset_minutes = p.tm_gmtoff / 60;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}{}{:02}:{:02}", p.tm_year + 1900,
                     p.tm_mon + 1, p.tm_mday, p.tm_hour, p.tm_min, p.tm_sec, local.millis,
                     offset_minutes < 0 ? '-' : '+', std::labs(offset_minutes) / 60,
                     std::labs(offset_minutes) % 60);
}

std::string format_time_of_day(std::int64_t wall_ns) {
  const LocalTime local = to_local(wall_ns);
  return fmt::format("{:02}:{:02}:{:02}.{:03}", local.parts.tm_hour, local.parts.tm_min,
                     local.parts.tm_sec, local.millis);
}

}  // namespace everywatt::base
