// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/column_map.h"

#include <algorithm>
#include <cstring>

namespace everywatt::recorder {
namespace {

using catalog::Reading;
using catalog::State;

constexpr unsigned kStateBits = 4;
constexpr std::uint64_t kStateMask = (1U << kStateBits) - 1;

std::uint16_t cells_each(catalog::Type type, std::uint16_t text_cells) {
  return type == catalog::Type::kText ? std::max<std::uint16_t>(text_cells, 1) : 1;
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
    if (const std::size_t used = to_cells.size() % catalog::kStatesPerWord; used != 0) {
      to_states.back() &= (std::uint64_t{1} << (used * kStateBits)) - 1;
    }
    return;
  }
  for (const catalog::MetricId id : catalog::schema(row.scope(), row.lane()).metrics) {
    const Column& theirs = column(id);
    for (unsigned instance = 0; instance < catalog::metric(id).instances; ++instance) {
      if (instance < theirs.instances) {
        fill_instance(states, cells, theirs, id, instance, row);
      } else {
        row.set_reading(id, Reading::absent(State::kNotSupported), instance);
      }
    }
  }
}

void ColumnMap::fill_instance(std::span<const std::uint64_t> states,
                              std::span<const std::uint64_t> cells, const Column& theirs,
                              catalog::MetricId id, unsigned instance, catalog::Row& row) {
  const std::size_t first = theirs.first_cell + std::size_t{instance} * theirs.width;
  const State state = state_of(states, first);
  if (state != State::kOk) {
    row.set_reading(id, Reading::absent(state), instance);
  } else if (catalog::metric(id).type == catalog::Type::kText) {
    // Of another width, perhaps; set_text() cuts between characters.
    const auto* text = reinterpret_cast<const char*>(&cells[first]);
    row.set_text(id, {text, ::strnlen(text, theirs.width * sizeof(std::uint64_t))}, instance);
  } else {
    row.set_reading(id, {State::kOk, cells[first]}, instance);
  }
}

}  // namespace everywatt::recorder
