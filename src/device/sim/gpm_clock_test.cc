// SPDX-License-Identifier: Apache-2.0
#include "device/sim/gpm_clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace everywatt::sim {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Refreshes at 50, 150, ..., 1950 ms with the means 0, 1, ..., 19; played once from 500, then
// 1000-1800.
class GpmClockTest : public testing::Test {
 protected:
  GpmClockTest() : trace_(make_trace()), clock_(trace_, loop_) {}

  static GpuTrace make_trace() {
    GpuTrace trace;
    for (unsigned i = 0; i < 20; ++i) {
      GpmRefresh refresh{.at_us = (50 + 100 * i) * 1000};
      refresh.means.fill(static_cast<float>(i));
      trace.gpm.push_back(refresh);
    }
    return trace;
  }
  double mean(std::int64_t from_ms, std::int64_t until_ms) const {
    return clock_.between(clock_.generation(from_ms * kMs), clock_.generation(until_ms * kMs))[0];
  }

  const GpuTrace trace_;
  const Loop loop_ = {500 * kMs, 1000 * kMs, 1800 * kMs};
  const GpmClock clock_;
};

TEST_F(GpmClockTest, MovesAtTheRecordedRefreshesOnly) {
  const std::int64_t before = clock_.generation(49 * kMs);
  EXPECT_EQ(clock_.generation(50 * kMs), before + 1);
  EXPECT_EQ(clock_.generation(149 * kMs), before + 1);
  EXPECT_EQ(clock_.generation(150 * kMs), before + 2);
}

TEST_F(GpmClockTest, GoesOnOverTheSeamEveryHundredMilliseconds) {
  // The first pass ends at 1300 played; its last refresh was at 1750 in the trace, the loop's first
  // is at 1050.
  const std::int64_t last = clock_.generation(1299 * kMs);
  EXPECT_EQ(clock_.generation(1300 * kMs), last);
  EXPECT_EQ(clock_.generation(1349 * kMs), last);
  EXPECT_EQ(clock_.generation(1350 * kMs), last + 1);
  for (std::int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(clock_.generation((1350 + 100 * i) * kMs), last + 1 + i);
  }
}

TEST_F(GpmClockTest, GivesTheRecordedRowBetweenAdjacentRefreshes) {
  EXPECT_EQ(mean(49, 50), 5);
  EXPECT_EQ(mean(1249, 1250), 17);
  EXPECT_EQ(mean(1349, 1350), 10);  // the loop's first, after the seam
  EXPECT_EQ(mean(2149, 2150), 10);  // and in the lap after
}

TEST_F(GpmClockTest, GivesZeroAndNanWithoutMovement) {
  const GpmMeans means = clock_.between(7, 7);
  EXPECT_EQ(means[0], 0);
  EXPECT_TRUE(std::isnan(means[kGpmDram]));
  for (std::size_t i = 0; i < kGpmColumns; ++i) {
    EXPECT_TRUE(i == kGpmDram || means[i] == 0) << i;
  }
}

TEST_F(GpmClockTest, TakesALaterSampleFirstForNoMovement) {
  EXPECT_TRUE(std::isnan(clock_.between(8, 7)[kGpmDram]));
}

TEST_F(GpmClockTest, GivesTheMeanOverSeveralRefreshes) {
  EXPECT_DOUBLE_EQ(mean(149, 450), (6 + 7 + 8 + 9) / 4.0);
  EXPECT_DOUBLE_EQ(mean(1249, 1450), (17 + 10 + 11) / 3.0);
}

TEST_F(GpmClockTest, WeightsARefreshWithTheTimeSinceTheOneBefore) {
  GpuTrace uneven;
  for (const auto& [ms, value] : {std::pair{100u, 1.0f}, {200u, 2.0f}, {500u, 6.0f}}) {
    GpmRefresh refresh{.at_us = ms * 1000};
    refresh.means.fill(value);
    uneven.gpm.push_back(refresh);
  }
  const Loop loop = {0, 0, 600 * kMs};
  EXPECT_DOUBLE_EQ(GpmClock(uneven, loop).between(1, 3)[0], (2 * 100 + 6 * 300) / 400.0);
}

TEST_F(GpmClockTest, TakesALongWindowForItsNewestLaps) {
  EXPECT_NEAR(mean(5'000, 8'000'000), 13.5, 2.5);
}

TEST_F(GpmClockTest, WithoutRefreshesNothingEverMoves) {
  const GpuTrace empty;
  const GpmClock clock(empty, loop_);
  EXPECT_EQ(clock.generation(0), clock.generation(1'000'000 * kMs));
}

}  // namespace
}  // namespace everywatt::sim
