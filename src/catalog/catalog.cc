// SPDX-License-Identifier: Apache-2.0
#include "catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/text.h"

namespace everywatt::catalog {
namespace {

constexpr auto kMetrics = std::to_array<Metric>({
#define METRIC(id, ...) Metric{.name = #id, __VA_ARGS__},
#include "catalog/metrics.inc"
#undef METRIC
});
constexpr std::size_t kMetricCount = kMetrics.size();
constexpr std::size_t kShapeCount = std::size_t{kScopeCount} * kLaneCount;

constexpr std::size_t index_of(MetricId id) {
  return static_cast<std::size_t>(id);
}

constexpr std::size_t shape_of(Scope scope, Lane lane) {
  return static_cast<std::size_t>(scope) * kLaneCount + static_cast<std::size_t>(lane);
}

constexpr std::uint16_t cells_of(const Metric& metric) {
  const unsigned width = metric.type == Type::kText ? metric.text_cells : 1u;
  return static_cast<std::uint16_t>(metric.instances * width);
}

// Where everything lies, worked out by the compiler: `grouped` holds the metrics of one shape side
// by side, `first` and `count` say which ones are whose.
struct Plan {
  std::array<Column, kMetricCount> columns{};
  std::array<MetricId, kMetricCount> grouped{};
  std::array<std::size_t, kShapeCount> first{};
  std::array<std::size_t, kShapeCount> count{};
  std::array<std::uint16_t, kShapeCount> cells{};
};

constexpr Plan compute_plan() {
  Plan plan;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const std::size_t shape = shape_of(kMetrics[i].scope, kMetrics[i].lane);
    plan.columns[i] = {.first_cell = plan.cells[shape], .cells = cells_of(kMetrics[i])};
    plan.cells[shape] = static_cast<std::uint16_t>(plan.cells[shape] + plan.columns[i].cells);
    ++plan.count[shape];
  }
  for (std::size_t shape = 1; shape < kShapeCount; ++shape) {
    plan.first[shape] = plan.first[shape - 1] + plan.count[shape - 1];
  }
  std::array<std::size_t, kShapeCount> next = plan.first;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    plan.grouped[next[shape_of(kMetrics[i].scope, kMetrics[i].lane)]++] = static_cast<MetricId>(i);
  }
  return plan;
}
constexpr Plan kPlan = compute_plan();

constexpr std::array<Schema, kShapeCount> compute_schemas() {
  std::array<Schema, kShapeCount> schemas{};
  const std::span<const MetricId> grouped = kPlan.grouped;
  for (std::size_t shape = 0; shape < kShapeCount; ++shape) {
    schemas[shape] = {.metrics = grouped.subspan(kPlan.first[shape], kPlan.count[shape]),
                      .cells = kPlan.cells[shape]};
  }
  return schemas;
}
constexpr std::array<Schema, kShapeCount> kSchemas = compute_schemas();

constexpr std::array<MetricId, kMetricCount> compute_by_name() {
  std::array<MetricId, kMetricCount> ids{};
  for (std::size_t i = 0; i < kMetricCount; ++i)
    ids[i] = static_cast<MetricId>(i);
  std::sort(ids.begin(), ids.end(), [](MetricId a, MetricId b) {
    return kMetrics[index_of(a)].name < kMetrics[index_of(b)].name;
  });
  return ids;
}
constexpr std::array<MetricId, kMetricCount> kByName = compute_by_name();

bool is_same_word(std::string_view lower, std::string_view word) {
  return !word.empty() && base::to_lower(word) == lower;
}

bool has_smi_name(const Metric& metric, std::string_view lower) {
  if (metric.smi.empty()) return false;
  return std::ranges::any_of(base::split(metric.smi, ','),
                             [&](std::string_view name) { return is_same_word(lower, name); });
}

bool has_name(const Metric& metric, std::string_view lower, std::optional<std::uint64_t> number) {
  if (number) return metric.dcgm_id != 0 && metric.dcgm_id == *number;
  return is_same_word(lower, metric.dcgm) || is_same_word(lower, metric.dcgm_alias) ||
         has_smi_name(metric, lower);
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const Metric& metric : kMetrics) {
    names.push_back(metric.name);
    if (!metric.dcgm.empty()) names.push_back(metric.dcgm);
    if (!metric.dcgm_alias.empty()) names.push_back(metric.dcgm_alias);
    if (!metric.smi.empty())
      std::ranges::copy(base::split(metric.smi, ','), std::back_inserter(names));
  }
  return names;
}

// The known name nearest to `lower`, as it is written in the catalog.
std::optional<std::string_view> nearest_name(std::string_view lower) {
  const std::vector<std::string_view> names = all_names();
  std::vector<std::string> lowered;
  for (const std::string_view name : names)
    lowered.push_back(base::to_lower(name));
  const auto found = base::nearest(lower, {lowered.begin(), lowered.end()});
  if (!found) return std::nullopt;
  const auto at = std::ranges::find(lowered, *found);
  return names[static_cast<std::size_t>(at - lowered.begin())];
}

}  // namespace

std::span<const Metric> metrics() {
  return kMetrics;
}

const Metric& metric(MetricId id) {
  CHECK(index_of(id) < kMetricCount);
  return kMetrics[index_of(id)];
}

Column column(MetricId id) {
  CHECK(index_of(id) < kMetricCount);
  return kPlan.columns[index_of(id)];
}

const Schema& schema(Scope scope, Lane lane) {
  const std::size_t shape = shape_of(scope, lane);
  CHECK(shape < kShapeCount);
  return kSchemas[shape];
}

std::optional<MetricId> metric_by_name(std::string_view name) {
  const auto found = std::ranges::lower_bound(
      kByName, name, {}, [](MetricId id) { return kMetrics[index_of(id)].name; });
  if (found == kByName.end() || kMetrics[index_of(*found)].name != name) return std::nullopt;
  return *found;
}

base::Result<MetricId> find_metric(std::string_view name) {
  const std::string lower = base::to_lower(base::trim(name));
  if (const auto own = metric_by_name(lower)) return *own;
  const auto number = base::parse_u64(lower);
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    if (has_name(kMetrics[i], lower, number)) return static_cast<MetricId>(i);
  }
  const auto near = number ? std::nullopt : nearest_name(lower);
  const std::string shown = base::clean_text(base::trim(name), 80);
  return base::fail(base::Code::kNotFound,
                    near ? fmt::format("no metric is called {}; the nearest is {}", shown, *near)
                         : fmt::format("no metric is called {}", shown),
                    "everywatt catalog lists them all");
}

double as_double(MetricId id, Reading reading) {
  switch (metric(id).type) {
    case Type::kF64:
      return reading.f64();
    case Type::kU64:
      return static_cast<double>(reading.u64());
    case Type::kI64:
      return static_cast<double>(reading.i64());
    case Type::kText:
      break;
  }
  CHECK(metric(id).type != Type::kText);
  return 0;
}

bool is_in_range(const Metric& metric, double value, double power_limit_max_watts) {
  double high = metric.range.high;
  // A board's own limit says more about what it can draw than a bound for all boards.
  if (metric.unit == Unit::kWatts && metric.kind == Kind::kGauge && power_limit_max_watts > 0) {
    high = 3 * power_limit_max_watts;
  }
  return value >= metric.range.low && value <= high;
}

}  // namespace everywatt::catalog
