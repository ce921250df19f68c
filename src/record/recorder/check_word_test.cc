// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/check_word.h"

#include <gtest/gtest.h>

#include <array>

namespace everywatt::recorder {
namespace {

// Written down, for another program may compute them: a change here is a new format version.
TEST(CheckWord, IsWhatTheFormatSays) {
  EXPECT_EQ(mix_word(0, 0), 0U);
  EXPECT_EQ(mix_word(0, 1), 0x9e37'79b9'e17d'05acU);
  EXPECT_EQ(words_check({}), kCheckSeed);
  constexpr std::array<std::uint64_t, 3> kWords{1, 2, 3};
  EXPECT_EQ(words_check(kWords), mix_word(mix_word(mix_word(kCheckSeed, 1), 2), 3));
  EXPECT_EQ(row_check(7, kWords), mix_word(mix_word(mix_word(mix_word(kCheckSeed, 7), 1), 2), 3));
}

TEST(CheckWord, SeesEveryChangeOfOneBit) {
  std::array<std::uint64_t, 5> words{1, 0, 0xffff'ffff'ffff'ffff, 0x0123'4567'89ab'cdef, 42};
  const std::uint64_t check = row_check(9, words);
  for (std::uint64_t& word : words) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      word ^= std::uint64_t{1} << bit;
      EXPECT_NE(row_check(9, words), check);
      word ^= std::uint64_t{1} << bit;
    }
  }
}

TEST(CheckWord, TellsWordsInAnotherOrderAndRowsOfAnotherSequence) {
  EXPECT_NE(words_check(std::array<std::uint64_t, 2>{1, 2}),
            words_check(std::array<std::uint64_t, 2>{2, 1}));
  EXPECT_NE(words_check(std::array<std::uint64_t, 1>{0}), words_check({}));
  constexpr std::array<std::uint64_t, 2> kWords{1, 2};
  EXPECT_NE(row_check(0, kWords), row_check(1, kWords));
}

TEST(CheckWord, ASlotThatWasNeverWrittenIsNoRow) {
  constexpr std::array<std::uint64_t, 40> kZeros{};
  for (std::uint64_t sequence = 0; sequence < 1000; ++sequence) {
    EXPECT_NE(row_check(sequence, kZeros), 0U);
  }
}

}  // namespace
}  // namespace everywatt::recorder
