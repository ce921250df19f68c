// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/throttle.h"

#include <gtest/gtest.h>

namespace everywatt::sampler {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(ThrottleWatch, PowerCapAndIdleAreNoThrottling) {
  ThrottleWatch watch;
  EXPECT_TRUE(watch.see(0x1 | 0x4, 100 * kMs).empty());
}

TEST(ThrottleWatch, StartIsToldAtOnceAndEndAfterASecondWithTheTimeOfTheClearing) {
  ThrottleWatch watch;
  const auto start = watch.see(0x40, 100 * kMs);
  ASSERT_EQ(start.size(), 1u);
  EXPECT_EQ(start[0].bit, 0x40u);
  EXPECT_TRUE(start[0].is_start);
  EXPECT_TRUE(watch.see(0x40, 200 * kMs).empty());
  EXPECT_TRUE(watch.see(0, 300 * kMs).empty());
  EXPECT_TRUE(watch.see(0, 1'200 * kMs).empty());
  const auto end = watch.see(0, 1'300 * kMs);
  ASSERT_EQ(end.size(), 1u);
  EXPECT_FALSE(end[0].is_start);
  EXPECT_EQ(end[0].time_ns, 300 * kMs);
}

TEST(ThrottleWatch, ReasonThatFlickersIsOneThrottling) {
  ThrottleWatch watch;
  std::size_t changes = 0;
  for (int tick = 1; tick <= 100; ++tick) {
    changes += watch.see(tick % 2 == 1 ? 0x8 : 0, tick * 100 * kMs).size();
  }
  EXPECT_EQ(changes, 1u);
}

TEST(ThrottleWatch, ReasonsAreToldApart) {
  ThrottleWatch watch;
  EXPECT_EQ(watch.see(0x8 | 0x20 | 0x80, 100 * kMs).size(), 3u);
}

}  // namespace
}  // namespace everywatt::sampler
