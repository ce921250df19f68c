// SPDX-License-Identifier: Apache-2.0
#include "serve/web/login_limits.h"

#include <gtest/gtest.h>

namespace everywatt::web {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNow = 1000 * kSecond;

TEST(TokenBucket, LetsABurstThroughAndThenOneEachInterval) {
  TokenBucket bucket(kSecond, 3);
  for (int taken = 0; taken < 3; ++taken)
    EXPECT_FALSE(bucket.try_take(kNow));
  EXPECT_EQ(bucket.try_take(kNow), kSecond);
  EXPECT_EQ(bucket.try_take(kNow + kSecond / 4), kSecond * 3 / 4);
  EXPECT_FALSE(bucket.try_take(kNow + kSecond));
  EXPECT_EQ(bucket.try_take(kNow + kSecond), kSecond);
  EXPECT_FALSE(bucket.is_full(kNow + 2 * kSecond));
  EXPECT_TRUE(bucket.is_full(kNow + 4 * kSecond));
}

TEST(TokenBucket, HoldsNoMoreThanItsBurst) {
  TokenBucket bucket(kSecond, 2);
  EXPECT_FALSE(bucket.try_take(kNow));
  for (int taken = 0; taken < 2; ++taken)
    EXPECT_FALSE(bucket.try_take(kNow + 100 * kSecond));
  EXPECT_TRUE(bucket.try_take(kNow + 100 * kSecond));
}

// As Go's limiter has it.
TEST(TokenBucket, WithoutABurstLetsNothingThrough) {
  TokenBucket bucket(kSecond, 0);
  EXPECT_TRUE(bucket.try_take(kNow));
}

TEST(TokenBucket, TakesAnyNumbers) {
  TokenBucket bucket(INT64_MAX / 8, SIZE_MAX);
  EXPECT_FALSE(bucket.try_take(kNow));
  EXPECT_FALSE(bucket.try_take(kNow));
}

TEST(LoginLimits, EachClientMayFailTenTimesAndThenOnceInSixSeconds) {
  LoginLimits limits;
  for (int failed = 0; failed < 10; ++failed)
    EXPECT_FALSE(limits.try_fail("a", kNow));
  EXPECT_EQ(limits.try_fail("a", kNow), 6 * kSecond);
  EXPECT_FALSE(limits.try_fail("b", kNow)) << "another client";
  EXPECT_FALSE(limits.try_fail("a", kNow + 6 * kSecond));
  EXPECT_TRUE(limits.try_fail("a", kNow + 6 * kSecond));
}

TEST(LoginLimits, WhatWasRightDoesNotCount) {
  LoginLimits limits;
  for (int right = 0; right < 100; ++right) {
    EXPECT_FALSE(limits.try_fail("a", kNow));
    limits.forgive("a", kNow);
  }
  EXPECT_EQ(limits.clients(), 0U);
  for (int failed = 0; failed < 10; ++failed)
    EXPECT_FALSE(limits.try_fail("a", kNow));
  limits.forgive("a", kNow);
  EXPECT_FALSE(limits.try_fail("a", kNow));
  EXPECT_TRUE(limits.try_fail("a", kNow));
}

TEST(LoginLimits, RemembersSoManyClientsAndTheLatest) {
  LoginLimits limits(2);
  for (int failed = 0; failed < 10; ++failed) {
    EXPECT_FALSE(limits.try_fail("a", kNow));
    EXPECT_FALSE(limits.try_fail("b", kNow));
  }
  EXPECT_TRUE(limits.try_fail("a", kNow));
  EXPECT_FALSE(limits.try_fail("c", kNow));  // b was there last the longest ago
  EXPECT_EQ(limits.clients(), 2U);
  EXPECT_TRUE(limits.try_fail("a", kNow));
  EXPECT_FALSE(limits.try_fail("b", kNow));
  limits.forgive("nobody", kNow);
}

}  // namespace
}  // namespace everywatt::web
