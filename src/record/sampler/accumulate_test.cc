// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/accumulate.h"

#include <gtest/gtest.h>

namespace everywatt::sampler {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(CountGrowth, RestartOfTheSourceCountsFromZero) {
  CountGrowth growth;
  EXPECT_EQ(growth.see(100), 0u) << "what was before us is not ours";
  EXPECT_EQ(growth.see(103), 3u);
  EXPECT_EQ(growth.see(103), 0u);
  EXPECT_EQ(growth.see(2), 0u);
  EXPECT_EQ(growth.see(5), 5u);
  EXPECT_EQ(growth.see(7), 2u);
}

TEST(CountGrowth, OneReadingThatFallsAndComesBackIsNoGrowth) {
  CountGrowth growth;
  growth.set_base(100);
  EXPECT_EQ(growth.see(0), 0u);
  EXPECT_EQ(growth.see(101), 1u);
  EXPECT_EQ(growth.see(3), 0u);
  EXPECT_EQ(growth.see(101), 0u);
}

TEST(CountGrowth, BaseBridgesARestartOfOurs) {
  CountGrowth growth;
  growth.set_base(7);
  EXPECT_EQ(growth.see(9), 2u);
}

TEST(SumGrowth, GrowsLikeACount) {
  SumGrowth growth;
  EXPECT_EQ(growth.see(1.5), 0);
  EXPECT_EQ(growth.see(2.0), 0.5);
  EXPECT_EQ(growth.see(0.25), 0.0);
  EXPECT_EQ(growth.see(0.5), 0.5);
}

// Issue P021: energy counters are coarse, jump, and restart.
TEST(EnergyGrowth, ImpossibleJumpIsRejectedAndARestartSurvived) {
  EnergyGrowth energy;
  double total = 0;
  const auto see = [&](double joules, std::int64_t second) {
    const EnergyGrowth::Step step = energy.see(joules, second * kSecond, 700);
    total += step.joules;
    return step.is_rejected;
  };
  EXPECT_FALSE(see(1'000, 10));
  EXPECT_FALSE(see(1'000, 11));
  EXPECT_EQ(total, 0);
  EXPECT_FALSE(see(1'001, 12));
  EXPECT_EQ(total, 1);
  EXPECT_TRUE(see(5e9, 13));
  EXPECT_EQ(total, 1);
  EXPECT_FALSE(see(12, 14));
  EXPECT_EQ(total, 13);
  EXPECT_FALSE(see(500, 15));
  EXPECT_EQ(total, 501);
}

TEST(EnergyGrowth, CounterThatGoesOnFromAJumpIsTakenUpAgain) {
  EnergyGrowth energy;
  energy.see(1'000, 10 * kSecond, 700);
  EXPECT_TRUE(energy.see(9e6, 20 * kSecond, 700).is_rejected);
  const EnergyGrowth::Step next = energy.see(9e6 + 3'000, 30 * kSecond, 700);
  EXPECT_FALSE(next.is_rejected);
  EXPECT_EQ(next.joules, 3'000);
  EXPECT_EQ(energy.see(9e6 + 4'000, 40 * kSecond, 700).joules, 1'000);
}

TEST(EnergyGrowth, BaseOfAnEarlierProcessCountsTheTimeBetween) {
  EnergyGrowth energy;
  energy.set_base(1'000, 10 * kSecond);
  EXPECT_EQ(energy.see(31'000, 70 * kSecond, 700).joules, 30'000);
}

TEST(EnergyGrowth, UnknownLimitAllowsWhatAnyBoardDraws) {
  EnergyGrowth energy;
  energy.see(0, 10 * kSecond, 0);
  EXPECT_FALSE(energy.see(3'000, 11 * kSecond, 0).is_rejected);
  EXPECT_TRUE(energy.see(10'000, 12 * kSecond, 0).is_rejected);
}

TEST(PowerIntegral, HoldsEachReadingUntilTheNext) {
  PowerIntegral integral;
  EXPECT_EQ(integral.see(100, 10 * kSecond, 2 * kSecond), 0);
  EXPECT_EQ(integral.see(300, 11 * kSecond, 2 * kSecond), 100);
  EXPECT_EQ(integral.see(300, 11 * kSecond + kSecond / 2, 2 * kSecond), 150);
}

TEST(PowerIntegral, PauseAddsNothing) {
  PowerIntegral integral;
  integral.see(100, 10 * kSecond, 2 * kSecond);
  EXPECT_EQ(integral.see(100, 20 * kSecond, 2 * kSecond), 0);
  EXPECT_EQ(integral.see(100, 21 * kSecond, 2 * kSecond), 100);
}

TEST(PowerIntegral, ReadingFromBeforeIsLeftOut) {
  PowerIntegral integral;
  integral.see(100, 10 * kSecond, 2 * kSecond);
  EXPECT_EQ(integral.see(500, 9 * kSecond, 2 * kSecond), 0);
  EXPECT_EQ(integral.see(100, 11 * kSecond, 2 * kSecond), 100);
}

}  // namespace
}  // namespace everywatt::sampler
