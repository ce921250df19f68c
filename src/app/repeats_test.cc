// SPDX-License-Identifier: Apache-2.0
#include "app/repeats.h"

#include <gtest/gtest.h>

namespace everywatt::app {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Repeats, ChangeIsToldAtOnceAndTheSameOnceAnHourWithItsNumber) {
  Repeats repeats;
  std::int64_t now_ns = 5 * kSecond;
  EXPECT_EQ(repeats.say("host: exit status 1", now_ns), "host: exit status 1");
  for (int i = 0; i < 359; ++i)
    EXPECT_EQ(repeats.say("host: exit status 1", now_ns += 10 * kSecond), std::nullopt);
  EXPECT_EQ(repeats.say("host: exit status 1", now_ns += 10 * kSecond),
            "host: exit status 1, 360 times more since it was told");
  EXPECT_EQ(repeats.say("host: exit status 1", now_ns += 10 * kSecond), std::nullopt);
  EXPECT_EQ(repeats.say("host: exit status 2", now_ns), "host: exit status 2");
}

TEST(Repeats, WhatCameOnceAnHourAgoIsNotCounted) {
  Repeats repeats;
  EXPECT_EQ(repeats.say("host: exit status 1", kSecond), "host: exit status 1");
  EXPECT_EQ(repeats.say("host: exit status 1", 7'200 * kSecond), "host: exit status 1");
}

}  // namespace
}  // namespace everywatt::app
