// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "catalog/metric.h"
#include "catalog/reading.h"

namespace everywatt::catalog {

// One enumerator a row of metrics_*.inc, named as the metric: MetricId::gpu_power_watts. The value
// is the row's place in metrics(); it is not stable between versions and never leaves a process
// (files name metrics by their names).
enum class MetricId : std::uint16_t {
#define METRIC(id, ...) id,
#include "catalog/metrics.inc"
#undef METRIC
};

// All rows, in the order of the table. The table is constant and needs no initialisation.
std::span<const Metric> metrics();
const Metric& metric(MetricId id);

// Where a metric's cells lie in a row of its (scope, lane): computed from the table.
struct Column {
  std::uint16_t first_cell = 0;
  std::uint16_t cells = 0;  // instances, times text_cells for text
};
Column column(MetricId id);

// The shape of a row: its metrics in column order and how many cells they take together. No
// metrics: this scope has no such lane.
struct Schema {
  std::span<const MetricId> metrics;
  std::uint16_t cells = 0;
};
const Schema& schema(Scope scope, Lane lane);

// The metric that `name` means: our name, a DCGM name (DCGM_FI_...) or id ("203"), nvidia-smi's
// query name. Case does not matter. kNotFound names the nearest one.
base::Result<MetricId> find_metric(std::string_view name);
// Exactly our own name, or nothing.
std::optional<MetricId> metric_by_name(std::string_view name);

// A raw reading as the number that people and exporters see, in the metric's base unit. Exact up to
// 2^53. REQUIRES: type is not kText.
double as_double(MetricId id, Reading reading);

// True when `value` lies in the metric's physical range. A known `power_limit_max_watts` (0:
// unknown) sets the upper end for gauges in watts to three times itself: 942 W on a 700 W GPU is a
// true reading, 2500 W is not. NaN is in no range.
bool is_in_range(const Metric& metric, double value, double power_limit_max_watts);

std::string_view unit_name(Unit unit);     // "watts"; "" for kNone
std::string_view kind_name(Kind kind);     // "gauge"
std::string_view type_name(Type type);     // "f64"
std::string_view scope_name(Scope scope);  // "gpu"
std::string_view lane_name(Lane lane);     // "gauge"

// docs/metrics.md.
std::string format_markdown();

}  // namespace everywatt::catalog
