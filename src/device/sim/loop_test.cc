// SPDX-License-Identifier: Apache-2.0
#include "device/sim/loop.h"

#include <gtest/gtest.h>

#include <set>

namespace everywatt::sim {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr Loop kLoop = {.start_ns = 10'000 * kMs, .begin_ns = 20'000 * kMs, .end_ns = 51'000 * kMs};

TEST(Loop, PlaysOnceFromTheStartThenTheLoop) {
  EXPECT_EQ(position(kLoop, 0), (Position{10'000 * kMs, 0}));
  EXPECT_EQ(position(kLoop, 41'000 * kMs - 1), (Position{51'000 * kMs - 1, 0}));
  EXPECT_EQ(position(kLoop, 41'000 * kMs), (Position{20'000 * kMs, 1}));
  EXPECT_EQ(position(kLoop, 72'000 * kMs - 1), (Position{51'000 * kMs - 1, 1}));
  EXPECT_EQ(position(kLoop, 72'000 * kMs), (Position{20'000 * kMs, 2}));
}

TEST(Loop, GoesBackwardsBeforeTheOriginAndStaysAtTheFirstInstant) {
  EXPECT_EQ(position(kLoop, -4'000 * kMs), (Position{6'000 * kMs, 0}));
  EXPECT_EQ(position(kLoop, -10'001 * kMs), (Position{0, 0}));
}

TEST(Loop, PlayedTimeIsTheInverseOfThePosition) {
  for (std::int64_t played = 0; played < 300'000 * kMs; played += 777 * kMs) {
    EXPECT_EQ(played_at(kLoop, position(kLoop, played)), played);
  }
}

TEST(Loop, ALoopThatBeginsWithTheStartRepeatsTheWhole) {
  constexpr Loop kWhole = {.start_ns = 10, .begin_ns = 10, .end_ns = 35};
  EXPECT_EQ(position(kWhole, 25), (Position{10, 1}));
  EXPECT_EQ(position(kWhole, 49), (Position{34, 1}));
}

TEST(Loop, KnowsTheTracesOfTheProduct) {
  EXPECT_EQ(loop_of("gemm", 33'990 * kMs), (Loop{10'000 * kMs, 17'000 * kMs, 33'000 * kMs}));
  EXPECT_EQ(loop_of("oom_ramp", 34'922 * kMs), (Loop{10'000 * kMs, 10'000 * kMs, 34'900 * kMs}));
}

TEST(Loop, RepeatsAnUnknownTraceFromTenSecondsOnAndAShortOneWhole) {
  EXPECT_EQ(loop_of("mine", 60'000 * kMs), (Loop{10'000 * kMs, 10'000 * kMs, 60'000 * kMs}));
  EXPECT_EQ(loop_of("mine", 5'000 * kMs), (Loop{0, 0, 5'000 * kMs}));
}

TEST(Loop, AKnownNameOnAShorterRecordingIsPlayedAsAnUnknownOne) {
  EXPECT_EQ(loop_of("gemm", 30'000 * kMs), (Loop{10'000 * kMs, 10'000 * kMs, 30'000 * kMs}));
}

TEST(Pid, IsDistinctForEveryProcessWorkerGpuAndTheNewestLaps) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t gpu = 0; gpu < 64; ++gpu) {
    for (std::int64_t lap = 0; lap < 8; ++lap) {
      for (std::uint32_t i = 0; i < 64; ++i)
        EXPECT_TRUE(seen.insert(process_pid(gpu, i, lap)).second);
      for (std::uint32_t i = 0; i < 60; ++i)
        EXPECT_TRUE(seen.insert(worker_pid(gpu, i, lap)).second);
    }
  }
  EXPECT_EQ(*seen.begin(), 10'000u);
  EXPECT_LT(*seen.rbegin(), 74'000u);
}

TEST(Pid, IsReusedAfterEightLaps) {
  EXPECT_EQ(process_pid(3, 0, 9), process_pid(3, 0, 1));
}

}  // namespace
}  // namespace everywatt::sim
