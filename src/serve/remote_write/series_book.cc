// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/series_book.h"

#include <algorithm>
#include <span>
#include <utility>

namespace everywatt::remote_write {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
// Receivers take some MiB; what Prometheus sends is a fraction of this.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

// Cuts what is added into bodies.
class Bodies {
 public:
  explicit Bodies(std::size_t samples_at_most) : samples_at_most_(samples_at_most) {}

  void add(std::string_view labels, std::span<const exporter::TimedValue> samples) {
    while (!samples.empty()) {
      const std::size_t room = samples_at_most_ - request_.samples();
      const std::size_t taken = std::min(room, samples.size());
      request_.add(labels, samples.first(taken));
      samples = samples.subspan(taken);
      if (request_.samples() == samples_at_most_ || request_.bytes() >= kMostBytes) end_body();
    }
  }
  std::vector<exporter::Body> finish() {
    end_body();
    return std::move(bodies_);
  }

 private:
  void end_body() {
    const std::size_t samples = request_.samples();
    if (samples > 0) bodies_.push_back({.bytes = request_.finish(), .samples = samples});
  }

  std::size_t samples_at_most_;
  exporter::WriteRequest request_;
  std::vector<exporter::Body> bodies_;
};

}  // namespace

SeriesBook::SeriesBook(exporter::Labels labels, const exporter::RowEncoder* rows)
    : labels_(std::move(labels)), rows_(rows) {}

void SeriesBook::begin_rows(std::int64_t wall_offset_ns) {
  phase_ = Phase::kRows;
  wall_offset_ns_ = wall_offset_ns;
}

void SeriesBook::set_time(std::int64_t time_ns) {
  time_ms_ = (time_ns + wall_offset_ns_) / kMillisecond;
}

void SeriesBook::begin_snapshot(std::int64_t wall_ms) {
  phase_ = Phase::kSnapshot;
  time_ms_ = wall_ms;
  ++snapshots_;
}

void SeriesBook::begin_known(std::int64_t wall_ms) {
  phase_ = Phase::kKnown;
  time_ms_ = wall_ms;
  ++snapshots_;
}

SeriesBook::Series& SeriesBook::find(std::string_view series) {
  if (const auto known = series_.find(series); known != series_.end()) return known->second;
  const std::string_view name = series.substr(0, series.find('{'));
  Series made{.labels = exporter::encode_labels(series, labels_),
              .seen = snapshots_,
              .is_of_rows = rows_ != nullptr && rows_->has_family(name)};
  return series_.emplace(series, std::move(made)).first->second;
}

void SeriesBook::take(std::string_view series, double value) {
  Series& found = find(series);
  if (phase_ != Phase::kRows) found.seen = snapshots_;
  if (phase_ == Phase::kKnown) {
    found.last_ms = time_ms_;
  } else if (phase_ == Phase::kRows || !found.is_of_rows) {
    add(found, exporter::TimedValue::of(time_ms_, value));
  }
}

// Receivers refuse what is not newer than the newest; it can come only of a clock that was set back
// a little.
void SeriesBook::add(Series& series, exporter::TimedValue sample) {
  if (sample.time_ms <= series.last_ms) return;
  series.last_ms = sample.time_ms;
  if (series.samples.empty()) order_.push_back(&series);
  series.samples.push_back(sample);
}

void SeriesBook::end_missing() {
  for (auto& [name, series] : series_) {
    if (series.seen == snapshots_) continue;
    // One that never had a sample has nothing to end.
    if (series.last_ms == 0) continue;
    add(series, exporter::TimedValue::stale(std::max(time_ms_, series.last_ms + 1)));
  }
}

std::vector<exporter::Body> SeriesBook::finish(std::size_t samples_at_most) {
  end_missing();
  Bodies bodies(samples_at_most);
  for (Series* series : order_) {
    bodies.add(series->labels, series->samples);
    series->samples.clear();
  }
  order_.clear();
  std::erase_if(series_, [this](const auto& entry) { return entry.second.seen != snapshots_; });
  return bodies.finish();
}

}  // namespace everywatt::remote_write
