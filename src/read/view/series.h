// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "read/view/view.h"

namespace everywatt::view {

// How several readings become one.
enum class Reduce : std::uint8_t {
  kByKind,  // gauge: mean; mask: OR; counter, state, constant: last
  kMean,    // weighted by the readings' windows where they have one
  kLast,
  kMin,
  kMax,
  kOr,
  kIncrease,  // how much a counter grew within the step; a restart of its source loses nothing
              // after
};

struct SeriesOptions {
  std::int64_t from_ns = 0;  // rows with from < time <= to
  std::int64_t to_ns = 0;    // at most now
  std::int64_t step_ns = 0;  // 0: every row as it was recorded
  // Steps end at origin + k * step: -wall_offset for steps on whole seconds of people's time.
  std::int64_t origin_ns = 0;
  Reduce reduce = Reduce::kByKind;
  std::size_t limit = 1'000'000;  // rows that are looked at; the newest are kept
};

struct Point {
  std::int64_t time_ns = 0;  // of the row; with a step: the end of the step
  std::int64_t window_start_ns = 0;
  std::int64_t window_end_ns = 0;
  catalog::State state = catalog::State::kNotRead;
  double value = 0;        // base unit; only if the state is kOk
  std::uint64_t bits = 0;  // exact value as in catalog::Reading, where it was not computed
  std::uint32_t samples = 0;

  bool is_ok() const { return state == catalog::State::kOk; }
};

struct Series {
  std::vector<Point> points;
  // Before this the ring does not reach back (any more); 0: it reaches back to `from`.
  std::int64_t reaches_back_to_ns = 0;
};

// Readings of one metric over time. Rows in which it was not due or did not move give no point;
// where it becomes absent, one point says why. With a step: one point for each step that holds a
// reading (or else a reason), with the step's end as its time.
Series read_series(const View& view, const Handle& handle, const SeriesOptions& options);

// Pure: what read_series() does with a step, on points in order of time.
std::vector<Point> resample(std::span<const Point> points, const catalog::Metric& metric,
                            const SeriesOptions& options);

// How much a counter grew over the points: the sum of its rises; after a fall it counts from 0.
double compute_increase(std::span<const Point> points);

struct Summary {
  std::size_t samples = 0;
  double mean = 0, min = 0, max = 0, last = 0;
  double p50 = 0, p90 = 0, p99 = 0;
  std::int64_t first_ns = 0, last_ns = 0;
};
// Of the readings in (from, to]; nothing without one.
std::optional<Summary> summarize(std::span<const Point> points);

// The value below which `share` (0-1) of the sorted values lie, interpolated. REQUIRES: not empty.
double percentile(std::span<const double> sorted, double share);

}  // namespace everywatt::view
