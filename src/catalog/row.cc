// SPDX-License-Identifier: Apache-2.0
#include "catalog/row.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/check.h"
#include "base/text.h"

namespace everywatt::catalog {
namespace {

constexpr unsigned kStateBits = 64 / kStatesPerWord;
constexpr std::uint64_t kStateMask = (1u << kStateBits) - 1;
static_assert(kStateCount <= kStateMask + 1);

std::size_t instance_width(const Metric& metric) {
  return metric.type == Type::kText ? metric.text_cells : 1u;
}

unsigned state_shift(std::size_t cell) {
  return static_cast<unsigned>(cell % kStatesPerWord) * kStateBits;
}

}  // namespace

Row::Row(Scope scope, Lane lane)
    : scope_(scope),
      lane_(lane),
      cells_(schema(scope, lane).cells),
      states_(state_words(schema(scope, lane).cells)) {}

void Row::clear() {
  std::ranges::fill(cells_, 0);
  std::ranges::fill(states_, 0);
  time_ns = window_start_ns = window_end_ns = 0;
}

void Row::set(MetricId id, double value, unsigned instance) {
  CHECK(metric(id).type == Type::kF64);
  put(cell_index(id, instance), Reading::of(value));
}

void Row::set(MetricId id, std::uint64_t value, unsigned instance) {
  CHECK(metric(id).type == Type::kU64);
  put(cell_index(id, instance), Reading::of(value));
}

void Row::set(MetricId id, std::int64_t value, unsigned instance) {
  CHECK(metric(id).type == Type::kI64);
  put(cell_index(id, instance), Reading::of(value));
}

void Row::set_reading(MetricId id, Reading reading, unsigned instance) {
  const Metric& row = metric(id);
  CHECK(row.type != Type::kText || !reading.is_ok());
  const std::size_t first = cell_index(id, instance);
  for (std::size_t i = 0; i < instance_width(row); ++i)
    put(first + i, reading);
}

void Row::set_text(MetricId id, std::string_view text, unsigned instance) {
  const Metric& row = metric(id);
  CHECK(row.type == Type::kText);
  const std::size_t first = cell_index(id, instance);
  const std::size_t width = instance_width(row);
  for (std::size_t i = 0; i < width; ++i)
    put(first + i, Reading::of(std::uint64_t{0}));
  const std::string clean = base::clean_text(text, width * sizeof(std::uint64_t));
  if (!clean.empty()) std::memcpy(&cells_[first], clean.data(), clean.size());
}

void Row::set_absent(MetricId id, State why) {
  CHECK(why != State::kOk);
  const std::size_t first = cell_index(id, 0);
  for (std::size_t i = 0; i < column(id).cells; ++i)
    put(first + i, Reading::absent(why));
}

void Row::set_all_absent(State why) {
  CHECK(why != State::kOk);
  std::ranges::fill(states_, 0);
  for (std::size_t i = 0; i < cells_.size(); ++i)
    put(i, Reading::absent(why));
}

Reading Row::reading(MetricId id, unsigned instance) const {
  const State why = state(id, instance);
  if (why != State::kOk) return Reading::absent(why);
  return {State::kOk, cells_[cell_index(id, instance)]};
}

std::string_view Row::text(MetricId id, unsigned instance) const {
  const Metric& row = metric(id);
  CHECK(row.type == Type::kText);
  if (state(id, instance) != State::kOk) return {};
  const char* bytes = reinterpret_cast<const char*>(&cells_[cell_index(id, instance)]);
  return {bytes, ::strnlen(bytes, instance_width(row) * sizeof(std::uint64_t))};
}

State Row::state(MetricId id, unsigned instance) const {
  const std::size_t cell = cell_index(id, instance);
  const std::uint64_t number = (states_[cell / kStatesPerWord] >> state_shift(cell)) & kStateMask;
  // A row filled from a file may hold a number that a newer version gave a meaning.
  return number < kStateCount ? static_cast<State>(number) : State::kFailed;
}

std::size_t Row::cell_index(MetricId id, unsigned instance) const {
  const Metric& row = metric(id);
  CHECK(row.scope == scope_ && row.lane == lane_);
  CHECK(instance < row.instances);
  return column(id).first_cell + instance * instance_width(row);
}

void Row::put(std::size_t cell, Reading reading) {
  cells_[cell] = reading.is_ok() ? reading.bits : 0;
  std::uint64_t& word = states_[cell / kStatesPerWord];
  word = (word & ~(kStateMask << state_shift(cell))) |
         (static_cast<std::uint64_t>(reading.state) << state_shift(cell));
}

}  // namespace everywatt::catalog
