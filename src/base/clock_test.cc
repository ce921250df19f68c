// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

namespace everywatt::base {
namespace {

// Sets the zone for one test and puts the old one back.
class ZoneGuard {
 public:
  explicit ZoneGuard(const char* zone) {
    if (const char* old = std::getenv("TZ")) old_ = old;
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  ~ZoneGuard() {
    if (old_) {
      ::setenv("TZ", old_->c_str(), 1);
    } else {
      ::unsetenv("TZ");
    }
    ::tzset();
  }

 private:
  std::optional<std::string> old_;
};

constexpr std::int64_t kMoment = 1'796'192'058'123'456'789;  // 2026-12-02 06:14:18 UTC

TEST(ClockTest, TimeIsWrittenWithMillisecondsAndZone) {
  const ZoneGuard zone("UTC0");
  EXPECT_EQ(format_time(kMoment), "2026-12-02T06:14:18.123+00:00");
  EXPECT_EQ(format_time_of_day(kMoment), "06:14:18.123");
}

TEST(ClockTest, ZonesEastAndWestOfGreenwichHaveTheirSigns) {
  {
    const ZoneGuard zone("CST-8");
    EXPECT_EQ(format_time(kMoment), "2026-12-02T14:14:18.123+08:00");
  }
  {
    const ZoneGuard zone("XST+3:30");
    EXPECT_EQ(format_time(kMoment), "2026-12-02T02:44:18.123-03:30");
  }
}

TEST(ClockTest, TimesBefore1970RoundDown) {
  const ZoneGuard zone("UTC0");
  EXPECT_EQ(format_time(-1), "1969-12-31T23:59:59.999+00:00");
  EXPECT_EQ(format_time(0), "1970-01-01T00:00:00.000+00:00");
}

TEST(ClockTest, MonotonicClocksNeverRunBackwards) {
  const std::int64_t boot = boottime_ns();
  const std::int64_t process = process_cpu_ns();
  const std::int64_t thread = thread_cpu_ns();
  EXPECT_LE(boot, boottime_ns());
  EXPECT_LE(process, process_cpu_ns());
  EXPECT_LE(thread, thread_cpu_ns());
  EXPECT_GT(boot, 0);
}

}  // namespace
}  // namespace everywatt::base
