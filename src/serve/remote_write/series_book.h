// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serve/exporter/exporter.h"
#include "serve/exporter/remote_write.h"
#include "serve/exporter/row_encoder.h"

namespace everywatt::remote_write {

// Which series a destination is being sent, from one moment to the next: collects their samples and
// ends those that are not there any more. One thread.
class SeriesBook : public exporter::TimedSink {
 public:
  // `labels` are added to each series, as far as it has none of the name. `rows`: the series that
  // it gives are sampled by it, and a snapshot only says that they are there; null: none. Must
  // outlive this.
  SeriesBook(exporter::Labels labels, const exporter::RowEncoder* rows);

  // What is taken next is of rows, before the moment's snapshot. `wall_offset_ns`: from boottime.
  void begin_rows(std::int64_t wall_offset_ns);
  void set_time(std::int64_t time_ns) override;
  // What is taken next is the snapshot at that moment.
  void begin_snapshot(std::int64_t wall_ms);
  // What is taken next was sent before, as of that moment.
  void begin_known(std::int64_t wall_ms);
  void take(std::string_view series, double value) override;

  // Ends the series that the snapshot did not have, and gives all samples since the last finish(),
  // series by series in the order in which they came. No body is of more than `samples_at_most`, or
  // much more than 1 MiB before it is compressed.
  std::vector<exporter::Body> finish(std::size_t samples_at_most);

  // Of series that are there now nothing is known any more.
  void forget() { series_.clear(); }

  std::size_t live_series() const { return series_.size(); }

 private:
  enum class Phase { kRows, kSnapshot, kKnown };
  struct Series {
    std::string labels;
    std::int64_t last_ms = 0;
    std::uint64_t seen = 0;  // the snapshot that had it last
    bool is_of_rows = false;
    std::vector<exporter::TimedValue> samples = {};
  };
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Map = std::unordered_map<std::string, Series, Hash, std::equal_to<>>;

  Series& find(std::string_view series);
  void add(Series& series, exporter::TimedValue sample);
  void end_missing();

  exporter::Labels labels_;
  const exporter::RowEncoder* rows_;
  Map series_;
  std::vector<Series*> order_;  // with samples
  Phase phase_ = Phase::kSnapshot;
  std::int64_t time_ms_ = 0;
  std::int64_t wall_offset_ns_ = 0;
  std::uint64_t snapshots_ = 0;
};

}  // namespace everywatt::remote_write
