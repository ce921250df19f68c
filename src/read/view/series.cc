// SPDX-License-Identifier: Apache-2.0
#include "read/view/series.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace everywatt::view {
namespace {

using catalog::Kind;
using catalog::State;

Reduce reduce_by_kind(Kind kind) {
  switch (kind) {
    case Kind::kGauge:
      return Reduce::kMean;
    case Kind::kMask:
      return Reduce::kOr;
    case Kind::kCounter:
    case Kind::kState:
    case Kind::kConst:
      return Reduce::kLast;
  }
  return Reduce::kLast;
}

// The end of the step that a time lies in: steps are (end - step, end].
std::int64_t step_end(std::int64_t time_ns, const SeriesOptions& options) {
  const std::int64_t from_origin = time_ns - options.origin_ns;
  std::int64_t steps = from_origin / options.step_ns;
  if (steps * options.step_ns < from_origin) ++steps;
  return options.origin_ns + steps * options.step_ns;
}

double weight(const Point& point) {
  const std::int64_t window_ns = point.window_end_ns - point.window_start_ns;
  return point.window_start_ns != 0 && window_ns > 0 ? static_cast<double>(window_ns) : 1.0;
}

double compute_mean(std::span<const Point> points) {
  double sum = 0;
  double weights = 0;
  // A row without a window beside rows with one would weigh nothing: then all weigh the same.
  const bool weigh = std::ranges::all_of(
      points, [](const Point& point) { return !point.is_ok() || point.window_start_ns != 0; });
  for (const Point& point : points) {
    if (!point.is_ok()) continue;
    const double share = weigh ? weight(point) : 1.0;
    sum += share * point.value;
    weights += share;
  }
  return sum / weights;
}

Point extreme(std::span<const Point> points, Reduce reduce) {
  const Point* best = nullptr;
  for (const Point& point : points) {
    if (!point.is_ok()) continue;
    const bool better = best == nullptr || (reduce == Reduce::kMin && point.value < best->value) ||
                        (reduce == Reduce::kMax && point.value > best->value) ||
                        reduce == Reduce::kLast;
    if (better) best = &point;
  }
  return *best;
}

// REQUIRES: one of the points is ok.
Point reduce_points(std::span<const Point> points, Reduce reduce) {
  Point result;
  switch (reduce) {
    case Reduce::kMean:
      result.value = compute_mean(points);
      break;
    case Reduce::kOr:
      for (const Point& point : points)
        result.bits |= point.is_ok() ? point.bits : 0;
      result.value = static_cast<double>(result.bits);
      break;
    case Reduce::kByKind:  // resolved by the caller
    case Reduce::kLast:
    case Reduce::kMin:
    case Reduce::kMax:
    case Reduce::kIncrease:
      result = extreme(points, reduce);
      break;
  }
  result.state = State::kOk;
  return result;
}

double rise(double before, double after) {
  return after >= before ? after - before : after;
}

// One step's point. `before` is the last good value ahead of the step, for increases.
Point reduce_step(std::span<const Point> points, Reduce reduce, std::optional<double>& before) {
  const auto samples = std::ranges::count_if(points, &Point::is_ok);
  Point result;
  if (samples == 0) {
    result.state = points.back().state;
    return result;
  }
  if (reduce == Reduce::kIncrease) {
    for (const Point& point : points) {
      if (!point.is_ok()) continue;
      if (before) result.value += rise(*before, point.value);
      before = point.value;
    }
    result.state = State::kOk;
  } else {
    result = reduce_points(points, reduce);
  }
  result.samples = static_cast<std::uint32_t>(samples);
  return result;
}

}  // namespace

std::vector<Point> resample(std::span<const Point> points, const catalog::Metric& metric,
                            const SeriesOptions& options) {
  CHECK(options.step_ns > 0);
  const Reduce reduce =
      options.reduce == Reduce::kByKind ? reduce_by_kind(metric.kind) : options.reduce;
  std::vector<Point> steps;
  std::optional<double> before;
  for (std::size_t first = 0; first < points.size();) {
    const std::int64_t end_ns = step_end(points[first].time_ns, options);
    std::size_t next = first;
    while (next < points.size() && points[next].time_ns <= end_ns)
      ++next;
    Point step = reduce_step(points.subspan(first, next - first), reduce, before);
    step.time_ns = end_ns;
    step.window_start_ns = end_ns - options.step_ns;
    step.window_end_ns = end_ns;
    steps.push_back(step);
    first = next;
  }
  return steps;
}

Series read_series(const View& view, const Handle& handle, const SeriesOptions& options) {
  Series series;
  if (handle.ring == Handle::kNoRing) return series;
  const recorder::Reader& reader = view.recorder();
  const std::int64_t to_ns = std::min(options.to_ns, view.now_ns());
  const std::uint64_t end = view.end_at(handle.ring, to_ns);
  std::uint64_t row = reader.lower_bound(handle.ring, options.from_ns + 1);
  if (end > row && end - row > options.limit) row = end - options.limit;
  const std::uint64_t oldest = reader.oldest(handle.ring);
  if (row <= oldest && end > oldest) {
    const std::int64_t oldest_ns = reader.read_time(handle.ring, oldest).value_or(0);
    if (oldest_ns > options.from_ns) series.reaches_back_to_ns = oldest_ns;
  }
  const std::int64_t rows_before_ns = reader.device(handle.slot).rows_before_ns;
  State last_state = State::kOk;
  recorder::Reader::Cell cell;
  for (; row < end; ++row) {
    if (reader.read_cell(handle.ring, row, handle.id, handle.instance, cell) !=
        recorder::RowState::kOk) {
      continue;
    }
    const State state = cell.reading.state;
    if (cell.time_ns < rows_before_ns || cell.time_ns > to_ns) continue;
    if (state == State::kNotRead || state == State::kNoNewValue) continue;
    if (state != State::kOk && state == last_state) continue;
    last_state = state;
    const bool is_ok = state == State::kOk;
    series.points.push_back({.time_ns = cell.time_ns,
                             .window_start_ns = cell.window_start_ns,
                             .window_end_ns = cell.window_end_ns,
                             .state = state,
                             .value = is_ok ? catalog::as_double(handle.id, cell.reading) : 0,
                             .bits = is_ok ? cell.reading.bits : 0,
                             .samples = is_ok ? 1u : 0u});
  }
  if (options.step_ns > 0) {
    series.points = resample(series.points, catalog::metric(handle.id), options);
  }
  return series;
}

double compute_increase(std::span<const Point> points) {
  double increase = 0;
  std::optional<double> before;
  for (const Point& point : points) {
    if (!point.is_ok()) continue;
    if (before) increase += rise(*before, point.value);
    before = point.value;
  }
  return increase;
}

double percentile(std::span<const double> sorted, double share) {
  CHECK(!sorted.empty());
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

std::optional<Summary> summarize(std::span<const Point> points) {
  std::vector<double> sorted;
  Summary summary;
  for (const Point& point : points) {
    if (!point.is_ok()) continue;
    if (sorted.empty()) summary.first_ns = point.time_ns;
    summary.last_ns = point.time_ns;
    summary.last = point.value;
    sorted.push_back(point.value);
  }
  if (sorted.empty()) return std::nullopt;
  std::ranges::sort(sorted);
  summary.samples = sorted.size();
  summary.mean = compute_mean(points);
  summary.min = sorted.front();
  summary.max = sorted.back();
  summary.p50 = percentile(sorted, 0.50);
  summary.p90 = percentile(sorted, 0.90);
  summary.p99 = percentile(sorted, 0.99);
  return summary;
}

}  // namespace everywatt::view
