// SPDX-License-Identifier: Apache-2.0
#include "serve/web/sender_pace.h"

#include <gtest/gtest.h>

namespace everywatt::web {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStart = 1000 * kSecond;

int admitted(SenderPace& pace, std::uint32_t uid, std::int64_t now_ns, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) {
    count += pace.admit(uid, now_ns) ? 1 : 0;
  }
  return count;
}

TEST(SenderPace, IsABurstOfAHundredAndThenTwentyASecond) {
  SenderPace pace;
  EXPECT_EQ(admitted(pace, 1000, kStart, 1000), 100);
  EXPECT_EQ(admitted(pace, 1000, kStart + kSecond / 20 - 1, 10), 0);
  EXPECT_EQ(admitted(pace, 1000, kStart + kSecond / 20, 10), 1);
  EXPECT_EQ(admitted(pace, 1000, kStart + kSecond, 1000), 19);
  EXPECT_EQ(admitted(pace, 1000, kStart + 4 * kSecond, 1000), 60);
  EXPECT_EQ(admitted(pace, 1000, kStart + 60 * kSecond, 1000), 100);
}

TEST(SenderPace, IsKeptOverALongTime) {
  SenderPace pace;
  int count = 0;
  for (int millisecond = 0; millisecond <= 10'000; ++millisecond) {
    count += admitted(pace, 7, kStart + millisecond * (kSecond / 1000), 3);
  }
  EXPECT_EQ(count, 100 + 10 * 20);
}

TEST(SenderPace, OfOneUserIsNotAnothers) {
  SenderPace pace;
  EXPECT_EQ(admitted(pace, 1000, kStart, 1000), 100);
  EXPECT_EQ(admitted(pace, 1001, kStart, 1), 1);
}

TEST(SenderPace, IsKeptForSoManySendersAndNoMore) {
  SenderPace pace;
  for (std::uint32_t uid = 0; uid < SenderPace::kSenders; ++uid) {
    EXPECT_TRUE(pace.admit(uid, kStart));
  }
  EXPECT_FALSE(pace.admit(5000, kStart));
  EXPECT_TRUE(pace.admit(3, kStart));
  // A second later the buckets of all who sent one message are full again.
  EXPECT_TRUE(pace.admit(5000, kStart + kSecond));
}

}  // namespace
}  // namespace everywatt::web
