// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "record/recorder/check_word.h"
#include "record/recorder/format.h"
#include "record/recorder/row_state.h"

// The two algorithms of format.h, and nothing else: everything that writes or reads a ring's slots
// goes through here. No system call, no allocation, no lock.
namespace everywatt::recorder {

// A ring as a writer or reader sees it once its shape is checked.
struct RingPlace {
  std::uint64_t capacity = 0;
  std::uint32_t row_words = 0;

  std::size_t slot_word(std::uint64_t sequence) const { return sequence % capacity * row_words; }
};

// The words of a row before its states, as format.h orders them.
enum RowWord : std::size_t { kCheckWord, kTimeWord, kWindowStartWord, kWindowEndWord };
static_assert(kWindowEndWord + 1 == kRowHeaderWords);

// Writes and publishes the next row. The shape is the caller's own copy: others may write to the
// file, and what they do to its numbers must not lead out of it. `head` is time, window start,
// window end; states and cells fill the row. REQUIRES: the caller is the ring's only writer; the
// sizes add up to the ring's row.
inline void publish_row(RingEntry& ring, Word* rows, const RingPlace& place,
                        std::span<const std::uint64_t, 3> head,
                        std::span<const std::uint64_t> states,
                        std::span<const std::uint64_t> cells) {
  // Acquire for the sake of the first row after a change of writers: what the earlier one published
  // comes before all of ours.
  const std::uint64_t sequence = ring.published.load(std::memory_order_acquire);
  Word* const slot = rows + place.slot_word(sequence);
  // After a writer's death it may already say so; it must never be taken back, for a reader may
  // still hold words of the unfinished row.
  ring.reserved.store(sequence + 1, std::memory_order_release);
  std::uint64_t check = mix_word(kCheckSeed, sequence);
  Word* word = slot + 1;
  for (const auto part : {std::span<const std::uint64_t>(head), states, cells}) {
    for (const std::uint64_t value : part) {
      (word++)->store(value, std::memory_order_release);
      check = mix_word(check, value);
    }
  }
  slot[kCheckWord].store(check, std::memory_order_release);
  ring.published.store(sequence + 1, std::memory_order_release);
}

// Step 1 of reading: whether row `sequence` is there to be tried.
inline RowState find_row(const RingEntry& ring, const RingPlace& place, std::uint64_t sequence) {
  const std::uint64_t published = ring.published.load(std::memory_order_acquire);
  if (sequence >= published) return RowState::kNotYet;
  return published - sequence > place.capacity ? RowState::kLost : RowState::kOk;
}

// Step 3: whether what was copied from the slot of row `sequence` was whole all the time.
inline RowState prove_row(const RingEntry& ring, const RingPlace& place, std::uint64_t sequence) {
  const std::uint64_t reserved = ring.reserved.load(std::memory_order_acquire);
  const bool is_overtaken = reserved > sequence && reserved - sequence > place.capacity;
  return is_overtaken ? RowState::kLost : RowState::kOk;
}

// All steps: copies row `sequence` into `to`, which has place.row_words words.
inline RowState copy_row(const RingEntry& ring, const Word* rows, const RingPlace& place,
                         std::uint64_t sequence, std::uint64_t* to) {
  if (const RowState found = find_row(ring, place, sequence); found != RowState::kOk) return found;
  const Word* const slot = rows + place.slot_word(sequence);
  for (std::uint32_t i = 0; i < place.row_words; ++i) {
    to[i] = slot[i].load(std::memory_order_acquire);
  }
  if (const RowState proof = prove_row(ring, place, sequence); proof != RowState::kOk) return proof;
  const std::span<const std::uint64_t> checked(to + 1, place.row_words - 1);
  return row_check(sequence, checked) == to[kCheckWord] ? RowState::kOk : RowState::kDamaged;
}

}  // namespace everywatt::recorder
