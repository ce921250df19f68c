// SPDX-License-Identifier: Apache-2.0
#include "device/sim/garbage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace everywatt::sim {
namespace {

template <typename T>
T filled(Garbage kind, std::uint64_t seed = 0) {
  T value{};
  fill_garbage(kind, &value, sizeof value, seed);
  return value;
}

TEST(Garbage, EachKindIsWhatItsNameSays) {
  EXPECT_EQ(filled<unsigned>(Garbage::kOnes), ~0u);
  EXPECT_EQ(filled<unsigned>(Garbage::kZeros), 0u);
  EXPECT_EQ(filled<unsigned>(Garbage::kHuge), 2'808'348'672u);
  EXPECT_EQ(filled<unsigned long long>(Garbage::kHuge), 1'000'000'000'000'000'000u);
  EXPECT_TRUE(std::isnan(filled<double>(Garbage::kNan)));
  EXPECT_EQ(garbage_number(Garbage::kHuge, 0), 1e300);
  EXPECT_TRUE(std::isnan(garbage_number(Garbage::kNan, 0)));
}

TEST(Garbage, RandomBitsFollowFromTheSeed) {
  EXPECT_EQ(filled<std::uint64_t>(Garbage::kRandom, 1), filled<std::uint64_t>(Garbage::kRandom, 1));
  EXPECT_NE(filled<std::uint64_t>(Garbage::kRandom, 1), filled<std::uint64_t>(Garbage::kRandom, 2));
}

TEST(Garbage, FillsNoByteBeyondAndTextHasNoEnd) {
  for (std::size_t size = 0; size < 40; ++size) {
    std::vector<char> bytes(size + 1, 'X');
    fill_garbage(Garbage::kText, bytes.data(), size, 0);
    EXPECT_EQ(bytes[size], 'X');
    EXPECT_EQ(std::string(bytes.data(), size).find('\0'), std::string::npos);
  }
}

}  // namespace
}  // namespace everywatt::sim
