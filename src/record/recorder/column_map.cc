// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/column_map.h"

#include <algorithm>
#include <string_view>

namespace everywatt::recorder {
namespace {

using catalog::State;

constexpr unsigned kStateBits = 4;
constexpr std::uint64_t kStateMask = (1U << kStateBits) - 1;

std::uint16_t cells_each(catalog::Type type, std::uint16_t text_cells) {
  return type == catalog::Type::kText ? std::max<std::uint16_t>(text_cells, 1) : 1;
}

void set_state(std::span<std::uint64_t> states, std::size_t cell, State state) {
  const std::size_t shift = cell % catalog::kStatesPerWord * kStateBits;
  std::uint64_t& word = states[cell / catalog::kStatesPerWord];
  word = (word & ~(kStateMask << shift)) | (static_cast<std::uint64_t>(state) << shift);
}

// What a text loses when only `cells` of it fit: the bytes of a character that is not whole.
std::uint64_t cut_last_cell(std::uint64_t cell) {
  unsigned bytes = sizeof(cell);
  const auto byte_at = [&](unsigned i) { return static_cast<std::uint8_t>(cell >> (8 * i)); };
  while (bytes > 0 && (byte_at(bytes - 1) & 0xc0) == 0x80)
    --bytes;  // continuation bytes
  if (bytes == sizeof(cell)) {
    // The last byte stands for itself or begins a character whose rest is lost.
    if (byte_at(bytes - 1) >= 0xc0) --bytes;
  } else if (bytes > 0) {
    --bytes;
  }
  return bytes == sizeof(cell) ? cell : cell & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace

State state_of(std::span<const std::uint64_t> states, std::size_t cell) {
  const std::uint64_t word = states[cell / catalog::kStatesPerWord];
  const std::uint64_t state = (word >> (cell % catalog::kStatesPerWord * kStateBits)) & kStateMask;
  return state < catalog::kStateCount ? static_cast<State>(state) : State::kFailed;
}

ColumnMap::ColumnMap(std::span<const CatalogEntry> entries) : columns_(catalog::metrics().size()) {
  for (const CatalogEntry& entry : entries) {
    const auto id = catalog::metric_by_name(entry.name);
    if (!id) continue;
    const catalog::Metric& metric = catalog::metric(*id);
    if (entry.scope != static_cast<std::uint8_t>(metric.scope) ||
        entry.lane != static_cast<std::uint8_t>(metric.lane) ||
        entry.type != static_cast<std::uint8_t>(metric.type)) {
      continue;
    }
    columns_[static_cast<unsigned>(*id)] = {.first_cell = entry.first_cell,
                                            .instances = entry.instances,
                                            .width = cells_each(metric.type, entry.text_cells)};
  }
  for (unsigned scope = 0; scope < catalog::kScopeCount; ++scope) {
    for (unsigned lane = 0; lane < catalog::kLaneCount; ++lane) {
      is_same_[scope][lane] = is_same_layout(
          catalog::schema(static_cast<catalog::Scope>(scope), static_cast<catalog::Lane>(lane)));
    }
  }
}

bool ColumnMap::is_same_layout(const catalog::Schema& schema) const {
  return std::ranges::all_of(schema.metrics, [&](catalog::MetricId id) {
    const catalog::Metric& metric = catalog::metric(id);
    const Column& theirs = column(id);
    return theirs.first_cell == catalog::column(id).first_cell &&
           theirs.instances == metric.instances &&
           theirs.width == cells_each(metric.type, metric.text_cells);
  });
}

void ColumnMap::fill(std::span<const std::uint64_t> states, std::span<const std::uint64_t> cells,
                     catalog::Row& row) const {
  const std::span<std::uint64_t> to_states = row.mutable_states();
  const std::span<std::uint64_t> to_cells = row.mutable_cells();
  // A row that has more columns than ours still has ours in front.
  if (is_same_[static_cast<unsigned>(row.scope())][static_cast<unsigned>(row.lane())]) {
    std::ranges::copy(states.first(to_states.size()), to_states.begin());
    std::ranges::copy(cells.first(to_cells.size()), to_cells.begin());
    return;
  }
  for (const catalog::MetricId id : catalog::schema(row.scope(), row.lane()).metrics) {
    const catalog::Metric& metric = catalog::metric(id);
    const Column& theirs = column(id);
    const std::size_t width = cells_each(metric.type, metric.text_cells);
    std::size_t to = catalog::column(id).first_cell;
    for (unsigned instance = 0; instance < metric.instances; ++instance) {
      const std::size_t from = theirs.first_cell + std::size_t{instance} * theirs.width;
      const bool is_there = instance < theirs.instances;
      const State state = is_there ? state_of(states, from) : State::kNotSupported;
      for (std::size_t i = 0; i < width; ++i, ++to) {
        const bool is_copied = is_there && i < theirs.width;
        set_state(to_states, to, is_copied ? state_of(states, from + i) : state);
        to_cells[to] = is_copied ? cells[from + i] : 0;
      }
      if (is_there && width < theirs.width) to_cells[to - 1] = cut_last_cell(to_cells[to - 1]);
    }
  }
}

}  // namespace everywatt::recorder
