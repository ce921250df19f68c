// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace everywatt::catalog {

// Cells share words for their states: 16 states of 4 bits a word, cell 0 in the lowest bits.
inline constexpr unsigned kStatesPerWord = 16;
constexpr std::size_t state_words(std::size_t cells) {
  return (cells + kStatesPerWord - 1) / kStatesPerWord;
}

// The readings of one lane of one device at one time, before they are written. Reused from tick to
// tick: clear() keeps the memory. Not thread-safe.
class Row {
 public:
  Row(Scope scope, Lane lane);

  // All cells not_read, times 0.
  void clear();

  // REQUIRES: the metric belongs to this row's scope and lane; instance < its instances; the C++
  // type matches the metric's type.
  void set(MetricId id, double value, unsigned instance = 0);
  void set(MetricId id, std::uint64_t value, unsigned instance = 0);
  void set(MetricId id, std::int64_t value, unsigned instance = 0);
  void set_reading(MetricId id, Reading reading, unsigned instance = 0);
  // Cuts at the metric's width on a character border; cleans control characters and bad UTF-8.
  void set_text(MetricId id, std::string_view text, unsigned instance = 0);
  // The reason for all instances of `id`.
  void set_absent(MetricId id, State why);
  // The reason for all cells of the row.
  void set_all_absent(State why);

  Reading reading(MetricId id, unsigned instance = 0) const;
  std::string_view text(MetricId id, unsigned instance = 0) const;  // "" unless ok
  State state(MetricId id, unsigned instance = 0) const;

  // When it was read (boottime_ns), and the window that its values describe; window_start_ns == 0:
  // the values describe the moment, or the window that the metric's meaning states.
  std::int64_t time_ns = 0;
  std::int64_t window_start_ns = 0;
  std::int64_t window_end_ns = 0;

  Scope scope() const { return scope_; }
  Lane lane() const { return lane_; }
  std::span<const std::uint64_t> cells() const { return cells_; }
  std::span<const std::uint64_t> states() const { return states_; }
  // For who fills a row from its stored form (the recorder's reader).
  std::span<std::uint64_t> mutable_cells() { return cells_; }
  std::span<std::uint64_t> mutable_states() { return states_; }

 private:
  std::size_t cell_index(MetricId id, unsigned instance) const;
  void put(std::size_t cell, Reading reading);

  Scope scope_;
  Lane lane_;
  std::vector<std::uint64_t> cells_;
  std::vector<std::uint64_t> states_;
};

}  // namespace everywatt::catalog
