// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/column_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace everywatt::recorder {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Reading;
using catalog::Row;
using catalog::Scope;
using catalog::State;
using catalog::Type;

CatalogEntry entry_of(MetricId id, std::uint16_t first_cell) {
  const catalog::Metric& metric = catalog::metric(id);
  CatalogEntry entry{};
  metric.name.copy(entry.name, sizeof(entry.name) - 1);
  entry.scope = static_cast<std::uint8_t>(metric.scope);
  entry.lane = static_cast<std::uint8_t>(metric.lane);
  entry.type = static_cast<std::uint8_t>(metric.type);
  entry.first_cell = first_cell;
  entry.instances = metric.instances;
  entry.text_cells = metric.text_cells;
  return entry;
}

// A file's row in the making.
struct FileRow {
  explicit FileRow(std::size_t cells) : states(catalog::state_words(cells)), cells(cells) {}
  void set(std::size_t cell, State state, std::uint64_t bits) {
    states[cell / catalog::kStatesPerWord] |= static_cast<std::uint64_t>(state)
                                              << (cell % catalog::kStatesPerWord * 4);
    cells[cell] = bits;
  }
  void set_text(std::size_t cell, std::size_t width, std::string_view text) {
    for (std::size_t i = 0; i < width; ++i)
      set(cell + i, State::kOk, 0);
    std::memcpy(&cells[cell], text.data(), text.size());
  }
  std::vector<std::uint64_t> states;
  std::vector<std::uint64_t> cells;
};

TEST(ColumnMap, FindsMetricsWhereTheFileHasThem) {
  CatalogEntry unknown = entry_of(MetricId::gpu_utilization_ratio, 0);
  std::memcpy(unknown.name, "gpu_of_the_future", sizeof("gpu_of_the_future"));
  const std::vector<CatalogEntry> entries{unknown, entry_of(MetricId::gpu_memory_used_bytes, 18),
                                          entry_of(MetricId::gpu_utilization_ratio, 17)};
  const ColumnMap map(entries);
  FileRow from(19);
  from.set(0, State::kOk, 1);
  from.set(17, State::kOk, Reading::of(0.25).bits);
  from.set(18, State::kTimedOut, 0);

  Row row(Scope::kGpu, Lane::kGauge);
  map.fill(from.states, from.cells, row);
  EXPECT_EQ(row.reading(MetricId::gpu_utilization_ratio), Reading::of(0.25));
  EXPECT_EQ(row.state(MetricId::gpu_memory_used_bytes), State::kTimedOut);
  EXPECT_EQ(row.state(MetricId::gpu_memory_free_bytes), State::kNotSupported);
}

TEST(ColumnMap, SkipsMetricsThatMeanSomethingElseNow) {
  std::vector<CatalogEntry> entries(4, entry_of(MetricId::gpu_utilization_ratio, 0));
  entries[0].type = static_cast<std::uint8_t>(Type::kI64);
  entries[1].lane = static_cast<std::uint8_t>(Lane::kSlow);
  entries[2].scope = static_cast<std::uint8_t>(Scope::kNode);
  entries[3].scope = 200;
  EXPECT_EQ(ColumnMap(entries).column(MetricId::gpu_utilization_ratio).instances, 0);
}

TEST(ColumnMap, CopiesWholeRowsOfItsOwnVersionWhateverFollows) {
  std::vector<CatalogEntry> entries;
  std::uint16_t cell = 0;
  for (const MetricId id : catalog::schema(Scope::kGpu, Lane::kGauge).metrics) {
    entries.push_back(entry_of(id, cell));
    cell = static_cast<std::uint16_t>(cell + catalog::column(id).cells);
  }
  const ColumnMap map(entries);
  FileRow from(cell + 40U);
  for (std::size_t i = 0; i < from.cells.size(); ++i) {
    from.set(i, static_cast<State>(i % catalog::kStateCount), i);
  }
  Row row(Scope::kGpu, Lane::kGauge);
  map.fill(from.states, from.cells, row);
  EXPECT_TRUE(std::ranges::equal(row.cells(), std::span(from.cells).first(cell)));
  for (std::size_t i = 0; i < cell; ++i) {
    EXPECT_EQ(state_of(row.states(), i), static_cast<State>(i % catalog::kStateCount));
  }
  // Nothing of the columns beyond.
  const std::size_t used = cell % catalog::kStatesPerWord * 4;
  if (used != 0) {
    EXPECT_EQ(row.states().back() >> used, 0U);
  }
}

TEST(ColumnMap, ReadsStatesOfNewerVersionsAsFailed) {
  const std::vector<std::uint64_t> states{0xfba9'8765'4321'0000};
  EXPECT_EQ(state_of(states, 0), State::kNotRead);
  EXPECT_EQ(state_of(states, 12), State::kFailed);
  EXPECT_EQ(state_of(states, 13), State::kFailed);
  EXPECT_EQ(state_of(states, 15), State::kFailed);
  EXPECT_EQ(state_of(states, 11), State::kInvalid);
}

// Instances that one of the two does not have, and texts of another width.
TEST(ColumnMap, TakesAsManyInstancesAsBothHave) {
  const MetricId id = MetricId::gpu_nvlink_link_transmit_bytes_per_second;
  const catalog::Metric& metric = catalog::metric(id);
  ASSERT_GT(metric.instances, 2);
  CatalogEntry entry = entry_of(id, 0);
  entry.instances = 2;
  const ColumnMap map(std::vector{entry});
  FileRow from(2);
  from.set(0, State::kOk, Reading::of(1.0).bits);
  from.set(1, State::kOk, Reading::of(2.0).bits);
  Row row(metric.scope, metric.lane);
  map.fill(from.states, from.cells, row);
  EXPECT_EQ(row.reading(id, 1), Reading::of(2.0));
  EXPECT_EQ(row.state(id, 2), State::kNotSupported);
}

class TextWidthTest : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

// A file whose text is one cell wider than ours, so that its end is cut.
TEST_P(TextWidthTest, IsCutAtACharacter) {
  const MetricId id = MetricId::gpu_name;
  const catalog::Metric& metric = catalog::metric(id);
  const std::size_t width = metric.text_cells;
  CatalogEntry entry = entry_of(id, 0);
  entry.text_cells = static_cast<std::uint16_t>(width + 1);
  const ColumnMap map(std::vector{entry});
  FileRow from(width + 1);
  const std::string head(width * 8 - 4, 'a');
  from.set_text(0, width + 1, head + GetParam().first);
  Row row(metric.scope, metric.lane);
  map.fill(from.states, from.cells, row);
  EXPECT_EQ(row.text(id), head + GetParam().second);
}

using namespace std::string_literals;
INSTANTIATE_TEST_SUITE_P(Ends, TextWidthTest,
                         ::testing::Values(std::pair{"bcdefg"s, "bcde"s},  //
                                           std::pair{"b"s, "b"s},          //
                                           std::pair{"bcdé"s, "bcd"s},     //
                                           std::pair{"bcéf"s, "bcé"s},     //
                                           std::pair{"b世f"s, "b世"s},     //
                                           std::pair{"bc世f"s, "bc"s},     //
                                           std::pair{"bcd世"s, "bcd"s},    //
                                           std::pair{"😀fg"s, "😀"s},      //
                                           std::pair{"b😀fg"s, "b"s}));

TEST(ColumnMap, NarrowerTextsAreWhole) {
  const MetricId id = MetricId::gpu_name;
  const catalog::Metric& metric = catalog::metric(id);
  CatalogEntry entry = entry_of(id, 0);
  entry.text_cells = 1;
  const ColumnMap map(std::vector{entry});
  FileRow from(1);
  from.set_text(0, 1, "A100 GPU");
  Row row(metric.scope, metric.lane);
  map.fill(from.states, from.cells, row);
  EXPECT_EQ(row.text(id), "A100 GPU");
}

}  // namespace
}  // namespace everywatt::recorder
