// SPDX-License-Identifier: Apache-2.0
#include "device/sim/steps.h"

#include <gtest/gtest.h>

#include "device/sim/ramp.h"

namespace everywatt::sim {
namespace {

Steps steps_of(std::initializer_list<std::pair<std::uint32_t, std::int64_t>> rows) {
  Steps steps;
  for (const auto& [us, value] : rows)
    steps.append(us, value);
  steps.finish();
  return steps;
}

TEST(Steps, HoldAValueUntilTheNextChange) {
  const Steps steps = steps_of({{100, 5}, {200, 7}});
  EXPECT_EQ(steps.at(100'000), 5);
  EXPECT_EQ(steps.at(199'999), 5);
  EXPECT_EQ(steps.at(200'000), 7);
  EXPECT_EQ(steps.at(1'000'000'000), 7);
}

TEST(Steps, ShowTheFirstRowBeforeIt) {
  EXPECT_EQ(steps_of({{100, 5}, {200, 7}}).at(0), 5);
}

TEST(Steps, KeepChangesOnly) {
  const Steps steps = steps_of({{0, 1}, {10, 1}, {20, 2}, {30, 2}, {40, 1}});
  EXPECT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps.time_ns(2), 40'000);
}

TEST(Steps, RiseByWhatCameBeforeTheEnd) {
  const Steps steps = steps_of({{0, 10}, {100, 20}, {200, 35}, {300, 99}});
  EXPECT_EQ(steps.rise(100'000, 300'000), 15);
  EXPECT_EQ(steps.rise(100'000, 300'001), 79);
}

TEST(Steps, WithoutRowsAreZero) {
  EXPECT_EQ(Steps().at(5), 0);
}

TEST(Ramp, GrowsEvenlyBetweenRowsAndStopsAfterTheLast) {
  Ramp ramp;
  ramp.append(1'000'000'000, 2);
  ramp.append(2'000'000'000, 4);
  EXPECT_DOUBLE_EQ(ramp.at(0), 0);
  EXPECT_DOUBLE_EQ(ramp.at(500'000'000), 1);
  EXPECT_DOUBLE_EQ(ramp.at(1'000'000'000), 2);
  EXPECT_DOUBLE_EQ(ramp.at(1'250'000'000), 3);
  EXPECT_DOUBLE_EQ(ramp.at(9'000'000'000), 6);
}

TEST(Ramp, NeverFalls) {
  Ramp ramp;
  for (std::int64_t i = 1; i <= 50; ++i)
    ramp.append(i * 100'000'000, i % 7 == 0 ? 0 : 3);
  double before = 0;
  for (std::int64_t at = 0; at < 6'000'000'000; at += 13'000'000) {
    EXPECT_GE(ramp.at(at), before);
    before = ramp.at(at);
  }
}

TEST(Ramp, WithoutRowsIsZero) {
  EXPECT_EQ(Ramp().at(5), 0);
}

}  // namespace
}  // namespace everywatt::sim
