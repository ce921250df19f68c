// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/gpm_policy.h"

#include <gtest/gtest.h>

#include <array>

namespace everywatt::sampler {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;

// Utilization each 200 ms over (from, to].
void keep_at(GpmPolicy& policy, double ratio, std::int64_t from_ns, std::int64_t to_ns) {
  for (std::int64_t t = from_ns; t <= to_ns; t += kSecond / 5)
    policy.see_utilization(ratio, t);
}

TEST(GpmPolicy, IdleGpuIsReadSlowly) {
  GpmPolicy policy;
  policy.see_processes(std::array{1u});
  keep_at(policy, 0.05, kSecond, 60 * kSecond);
  EXPECT_FALSE(policy.wants_fast(60 * kSecond));
}

TEST(GpmPolicy, ProcessThatKeepsTheGpuBusyForTenSecondsIsReadFast) {
  GpmPolicy policy;
  policy.see_processes(std::array{1u});
  keep_at(policy, 0.9, 100 * kSecond, 109 * kSecond);
  EXPECT_FALSE(policy.wants_fast(109 * kSecond));
  keep_at(policy, 0.9, 109 * kSecond, 110 * kSecond);
  EXPECT_TRUE(policy.wants_fast(110 * kSecond));
}

TEST(GpmPolicy, PauseStartsTheTenSecondsAnew) {
  GpmPolicy policy;
  policy.see_processes(std::array{1u});
  keep_at(policy, 0.9, 100 * kSecond, 109 * kSecond);
  policy.see_utilization(0, 109 * kSecond);
  keep_at(policy, 0.9, 110 * kSecond, 119 * kSecond);
  EXPECT_FALSE(policy.wants_fast(119 * kSecond));
}

TEST(GpmPolicy, AfterTenMinutesOneInTenIsFast) {
  GpmPolicy policy;
  policy.see_processes(std::array{1u});
  const std::int64_t start = 110 * kSecond;
  keep_at(policy, 0.9, 100 * kSecond, start);
  EXPECT_TRUE(policy.wants_fast(start + 10 * kMinute - 1));
  EXPECT_TRUE(policy.wants_fast(start + 10 * kMinute));
  EXPECT_FALSE(policy.wants_fast(start + 11 * kMinute));
  EXPECT_FALSE(policy.wants_fast(start + 20 * kMinute - 1));
  EXPECT_TRUE(policy.wants_fast(start + 20 * kMinute));
}

TEST(GpmPolicy, AnotherProcessIsFastForItsOwnTenMinutes) {
  GpmPolicy policy;
  policy.see_processes(std::array{1u});
  keep_at(policy, 0.9, 100 * kSecond, 110 * kSecond);
  const std::int64_t later = 110 * kSecond + 15 * kMinute;
  EXPECT_FALSE(policy.wants_fast(later));
  policy.see_processes(std::array{1u, 2u});
  policy.see_utilization(0.9, later);
  EXPECT_TRUE(policy.wants_fast(later));
  policy.see_processes(std::array{1u});
  EXPECT_FALSE(policy.wants_fast(later));
}

TEST(GpmPolicy, ProcessThatLeavesIsForgotten) {
  GpmPolicy policy;
  policy.see_processes(std::array{1u});
  keep_at(policy, 0.9, 100 * kSecond, 110 * kSecond);
  policy.see_processes({});
  EXPECT_FALSE(policy.wants_fast(111 * kSecond));
}

TEST(GpmPolicy, LeaseIsFastUntilItEnds) {
  GpmPolicy policy;
  policy.lease(30 * kSecond);
  policy.lease(20 * kSecond);
  EXPECT_TRUE(policy.wants_fast(30 * kSecond - 1));
  EXPECT_FALSE(policy.wants_fast(30 * kSecond));
}

TEST(CpuAllowance, StartsWithAMinuteAndEarnsItsShare) {
  CpuAllowance allowance(0.01, 0);
  EXPECT_TRUE(allowance.has_room(0));
  allowance.spend(600'000'000);
  EXPECT_FALSE(allowance.has_room(0));
  EXPECT_TRUE(allowance.has_room(kSecond));
  allowance.spend(10'000'000);
  EXPECT_FALSE(allowance.has_room(kSecond));
}

TEST(CpuAllowance, SavesNoMoreThanAMinute) {
  CpuAllowance allowance(0.01, 0);
  EXPECT_TRUE(allowance.has_room(3'600 * kSecond));
  allowance.spend(600'000'000);
  EXPECT_FALSE(allowance.has_room(3'600 * kSecond));
}

TEST(CpuAllowance, UsedShareIsOfTheTimeSinceTheLastQuestion) {
  CpuAllowance allowance(0.01, 0);
  allowance.spend(5'000'000);
  EXPECT_DOUBLE_EQ(allowance.take_used_ratio(kSecond), 0.5);
  EXPECT_DOUBLE_EQ(allowance.take_used_ratio(2 * kSecond), 0);
}

}  // namespace
}  // namespace everywatt::sampler
