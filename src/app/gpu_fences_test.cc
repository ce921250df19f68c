// SPDX-License-Identifier: Apache-2.0
#include "app/gpu_fences.h"

#include <gmock/gmock.h>

namespace everywatt::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;

bool nobody(std::uint32_t /*gpu*/) {
  return false;
}

TEST(GpuFences, StandForTwiceAsLongEachTimeUpToTenMinutes) {
  GpuFences fences(30 * kSecond);
  std::int64_t now_ns = 1000 * kMinute;
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 7; ++i) {
    fences.raise(5, now_ns);
    waits.push_back((fences.retry_at_ns(5) - now_ns) / kSecond);
    now_ns = fences.retry_at_ns(5);
    EXPECT_FALSE(fences.lower_due(now_ns - 1, nobody));
    EXPECT_TRUE(fences.lower_due(now_ns, nobody));
    EXPECT_FALSE(fences.is_up(5));
    now_ns += 2 * kSecond;
  }
  EXPECT_THAT(waits, ElementsAre(30, 60, 120, 240, 480, 600, 600));
}

TEST(GpuFences, AreShortAgainAfterItWentWell) {
  GpuFences fences(30 * kSecond);
  fences.raise(5, kMinute);
  fences.lower_due(10 * kMinute, nobody);
  fences.raise(5, 45 * kMinute);
  EXPECT_EQ(fences.retry_at_ns(5), 45 * kMinute + 30 * kSecond);
}

TEST(GpuFences, AreNotLoweredWhileAProcessHangsThere) {
  GpuFences fences(30 * kSecond);
  fences.raise(5, 0);
  fences.raise(9, 0);
  EXPECT_TRUE(fences.lower_due(kMinute, [](std::uint32_t gpu) { return gpu == 5; }));
  EXPECT_THAT(fences.gpus(), ElementsAre(5));
  fences.lower_all([](std::uint32_t gpu) { return gpu == 5; });
  EXPECT_THAT(fences.gpus(), ElementsAre(5));
  fences.lower_all(nobody);
  EXPECT_THAT(fences.gpus(), IsEmpty());
}

TEST(GpuFences, GoUpWithTheSecondCrashWithinAMinute) {
  GpuFences fences(30 * kSecond);
  EXPECT_FALSE(fences.note_crash(5, 10 * kMinute));
  EXPECT_FALSE(fences.note_crash(5, 12 * kMinute));
  EXPECT_FALSE(fences.note_crash(9, 12 * kMinute));
  EXPECT_TRUE(fences.note_crash(5, 13 * kMinute));
  EXPECT_THAT(fences.gpus(), ElementsAre(5));
  // Tried again, it needs no second proof.
  EXPECT_TRUE(fences.lower_due(fences.retry_at_ns(5) + 5 * kMinute, nobody));
  EXPECT_TRUE(fences.note_crash(5, 13 * kMinute + 30 * kSecond + 5 * kMinute + kSecond));
}

}  // namespace
}  // namespace everywatt::app
