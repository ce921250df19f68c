// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "catalog/row.h"
#include "record/recorder/format.h"

// Inside the room only.
namespace everywatt::recorder {

// Where the columns that this version knows lie in the rows of a file, whichever version made it:
// found by the metrics' names. Constant after construction.
class ColumnMap {
 public:
  // Entries whose name, scope, lane or type is not as in our catalog are skipped.
  // REQUIRES: the entries are checked (parse_tables).
  explicit ColumnMap(std::span<const CatalogEntry> entries);

  // Cells of a known metric in the file's rows.
  struct Column {
    std::uint32_t first_cell = 0;
    std::uint16_t instances = 0;  // 0: the file lacks it
    std::uint16_t width = 1;      // cells an instance
  };
  const Column& column(catalog::MetricId id) const { return columns_[static_cast<unsigned>(id)]; }

  // Fills `row` from the states and cells of a file's row of its scope and lane.
  void fill(std::span<const std::uint64_t> states, std::span<const std::uint64_t> cells,
            catalog::Row& row) const;

 private:
  static void fill_instance(std::span<const std::uint64_t> states,
                            std::span<const std::uint64_t> cells, const Column& theirs,
                            catalog::MetricId id, unsigned instance, catalog::Row& row);
  bool is_same_layout(const catalog::Schema& schema) const;

  std::vector<Column> columns_;  // by MetricId
  // By scope and lane: the file's columns lie as ours, so a row can be copied whole.
  std::array<std::array<bool, catalog::kLaneCount>, catalog::kScopeCount> is_same_{};
};

// The state that a file's 4 bits say; kFailed for one that this version does not know.
catalog::State state_of(std::span<const std::uint64_t> states, std::size_t cell);

}  // namespace everywatt::recorder
