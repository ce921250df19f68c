// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

#include "base/text.h"
#include "catalog/catalog.h"

namespace everywatt::catalog {
namespace {

constexpr std::string_view kHead =
    R"(# Metrics

Written by `everywatt catalog --markdown` from the catalog in `src/catalog/`; do not edit.

Everything is in base units: watts, joules, bytes, seconds, hertz, degrees Celsius, and ratios from
0 to 1. A reading is a number or the reason why there is none; `everywatt why METRIC` tells it:
`not_read` (not due in this row), `no_new_data` (the source did not move), `not_supported`,
`no_permission`, `lost`, `timed_out`, `drained`, `invalid` (outside the range below; counted) or
`failed`. A range is what is physically possible, not what a GPU is limited to: gauges in watts may
reach three times the GPU's highest power limit.

A metric can be asked for by its own name, by the DCGM names and id and by the `nvidia-smi
--query-gpu` names beside it. A number after it turns our unit into DCGM's. `[n label]`: n values
side by side, told apart by that label.

)";

struct ScopeText {
  Scope scope;
  std::string_view title;
};
constexpr std::array kScopeTexts{
    ScopeText{Scope::kGpu, "GPUs and MIG instances"},
    ScopeText{Scope::kNode, "The machine and its processes"},
    ScopeText{Scope::kDisk, "Disks"},
    ScopeText{Scope::kInterface, "Network interfaces"},
    ScopeText{Scope::kInfiniband, "InfiniBand ports"},
    ScopeText{Scope::kPart, "Everywatt itself"},
};
static_assert(kScopeTexts.size() == kScopeCount);

// In the order of Lane.
struct LaneText {
  std::string_view cadence;
  std::string_view missing;  // why a metric of the lane is absent when its row says nothing
};
constexpr std::array kLaneTexts{
    LaneText{"every 100 ms", "Absent where the GPU or its driver does not offer it."},
    LaneText{"each sample of 20.7 ms, fetched once a second",
             "Absent where the driver keeps no such buffer."},
    LaneText{"every second, every 100 ms when it pays",
             "Needs a GPU with GPM (Hopper or newer) and the right to read performance counters. A "
             "window in which the counters did not move gives no row."},
    LaneText{"every second", "Absent where the driver does not tell it."},
    LaneText{"every 10 s", "Absent where the GPU or its driver does not offer it."},
    LaneText{"at start and after any change",
             "Absent where the GPU or its driver does not tell it."},
    LaneText{"about once a second", "Absent while what it sums up is absent."},
    LaneText{"after each XID", "Absent where the driver reports no events."},
    LaneText{"every second", "Absent where the kernel does not offer it."},
    LaneText{"every second for 64 processes, every 10 s for the rest",
             "Absent where the kernel does not offer it or our rights do not reach."},
    LaneText{"at the first sight of a process", "Absent where our rights do not reach."},
    LaneText{"as they happen", "Absent where the event has none."},
    LaneText{"every second", "Absent while the part does not run."},
    LaneText{"every second", "Absent in parts that have nothing to count."},
};
static_assert(kLaneTexts.size() == kLaneCount);

std::string format_period(std::uint32_t period_ms) {
  if (period_ms == 0) return "each row";
  return period_ms % 1000 == 0 ? fmt::format("{} s", period_ms / 1000)
                               : fmt::format("{} ms", period_ms);
}

std::string format_range(const Range& range) {
  const bool has_low = range.low > Range{}.low;
  const bool has_high = range.high < Range{}.high;
  if (!has_low && !has_high) return "";
  return fmt::format("{} … {}", has_low ? fmt::format("{:g}", range.low) : "",
                     has_high ? fmt::format("{:g}", range.high) : "");
}

std::string format_unit(const Metric& metric) {
  std::string text(metric.unit == Unit::kNone ? type_name(metric.type) : unit_name(metric.unit));
  if (metric.instances > 1) {
    text += fmt::format(" [{} {}]", metric.instances, metric.instance_label);
  }
  return text;
}

std::string format_other_names(const Metric& metric) {
  std::string text;
  const auto append = [&](std::string_view piece) {
    if (!text.empty()) text += ", ";
    text += piece;
  };
  if (!metric.dcgm.empty()) {
    append(fmt::format("`{}` {}", metric.dcgm, metric.dcgm_id));
    if (metric.dcgm_scale > 1) text += fmt::format(" × {}", metric.dcgm_scale);
    if (metric.dcgm_scale < 1) text += fmt::format(" ÷ {}", std::llround(1 / metric.dcgm_scale));
  }
  if (!metric.dcgm_alias.empty()) append(fmt::format("`{}`", metric.dcgm_alias));
  if (!metric.smi.empty()) {
    for (const std::string_view name : base::split(metric.smi, ',')) {
      append(fmt::format("`{}`", name));
    }
  }
  if (!metric.family.empty()) {
    append(metric.labels.empty() ? fmt::format("series `{}`", metric.family)
                                 : fmt::format("series `{}{{{}}}`", metric.family, metric.labels));
  }
  return text;
}

std::string both(std::string_view en, std::string_view zh) {
  return en.empty() ? "" : fmt::format("{}<br>{}", en, zh);
}

void append_lane(std::string& page, Scope scope, Lane lane) {
  const Schema& shape = schema(scope, lane);
  if (shape.metrics.empty()) return;
  const LaneText& text = kLaneTexts[static_cast<std::size_t>(lane)];
  page += fmt::format("### `{}` {}: {}\n\n{}\n\n", scope_name(scope), lane_name(lane), text.cadence,
                      text.missing);
  page +=
      "| metric | unit | kind | refreshed | range | other names | what it tells you | when it is "
      "missing |\n|---|---|---|---|---|---|---|---|\n";
  for (const MetricId id : shape.metrics) {
    const Metric& row = metric(id);
    page += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", row.name, format_unit(row),
                        kind_name(row.kind), format_period(row.period_ms), format_range(row.range),
                        format_other_names(row), both(row.en, row.zh),
                        both(row.missing_en, row.missing_zh));
  }
  page += "\n";
}

}  // namespace

std::string format_markdown() {
  std::string page(kHead);
  for (const ScopeText& text : kScopeTexts) {
    page += fmt::format("## {}\n\n", text.title);
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      append_lane(page, text.scope, static_cast<Lane>(lane));
    }
  }
  page.pop_back();  // one line end at the end of the file
  return page;
}

}  // namespace everywatt::catalog
