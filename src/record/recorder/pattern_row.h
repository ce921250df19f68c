// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "catalog/row.h"
#include "record/recorder/check_word.h"

// For this room's tests: rows whose every word follows from two numbers, so that a reader can tell
// on its own whether what it got was ever written as one row.
namespace everywatt::recorder {

inline std::uint64_t pattern_word(std::uint64_t sequence, std::uint64_t author, std::size_t place) {
  return mix_word(mix_word(mix_word(kCheckSeed, sequence), author), place);
}

inline catalog::State pattern_state(std::uint64_t sequence, std::size_t cell) {
  return static_cast<catalog::State>((sequence + cell) % catalog::kStateCount);
}

// Cells in state kOk hold their pattern word, the others 0, as in rows that are filled by readings.
inline void fill_pattern(std::uint64_t sequence, std::uint64_t author, catalog::Row& row) {
  row.time_ns = static_cast<std::int64_t>(sequence);
  row.window_start_ns = static_cast<std::int64_t>(author);
  row.window_end_ns = static_cast<std::int64_t>(pattern_word(sequence, author, 0));
  const auto cells = row.mutable_cells();
  const auto states = row.mutable_states();
  for (auto& word : states)
    word = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const catalog::State state = pattern_state(sequence, i);
    cells[i] = state == catalog::State::kOk ? pattern_word(sequence, author, i + 1) : 0;
    states[i / catalog::kStatesPerWord] |= static_cast<std::uint64_t>(state)
                                           << (i % catalog::kStatesPerWord * 4);
  }
}

// Whether `row` is the pattern of `sequence`, by whichever author.
inline bool is_pattern(std::uint64_t sequence, const catalog::Row& row) {
  catalog::Row expected(row.scope(), row.lane());
  fill_pattern(sequence, static_cast<std::uint64_t>(row.window_start_ns), expected);
  const auto are_equal = [](auto a, auto b) { return std::equal(a.begin(), a.end(), b.begin()); };
  return row.time_ns == expected.time_ns && row.window_end_ns == expected.window_end_ns &&
         are_equal(row.cells(), expected.cells()) && are_equal(row.states(), expected.states());
}

}  // namespace everywatt::recorder
