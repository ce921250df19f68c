// SPDX-License-Identifier: Apache-2.0
//
// DCGM_FI_... as DCGM's exporter writes them: its labels, units, and its ways of writing a number.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catalog/glossary.h"
#include "serve/exporter/samples.h"

namespace everywatt::exporter {
namespace {

using catalog::Kind;
using catalog::Metric;
using catalog::MetricId;
using catalog::Scope;
using catalog::Type;
using catalog::Unit;
using view::View;

// DCGM's numbers from here on are shares of cycles; it writes them and watts as doubles ("%f"), all
// else as integers.
constexpr unsigned kFirstProfilingId = 1001;

bool is_double(const Metric& metric) {
  return metric.unit == Unit::kWatts ||
         (metric.unit == Unit::kRatio && metric.dcgm_id >= kFirstProfilingId);
}

// Several instances are one number in DCGM: the sum of a counter, else the largest.
std::optional<catalog::Reading> read_one(const View& view, const Target& target, MetricId id) {
  const Metric& metric = catalog::metric(id);
  view::Handle handle = target.handle(id);
  std::optional<catalog::Reading> result;
  for (unsigned instance = 0; instance < metric.instances; ++instance) {
    handle.instance = static_cast<std::uint16_t>(instance);
    const catalog::Reading reading = view.latest(handle).reading;
    if (!is_publishable(id, reading)) continue;
    if (result && metric.kind == Kind::kCounter && metric.type == Type::kU64) {
      result = catalog::Reading::of(result->u64() + reading.u64());
    } else if (!result || catalog::as_double(id, reading) > catalog::as_double(id, *result)) {
      result = reading;
    }
  }
  return result;
}

std::string value_text(MetricId id, catalog::Reading reading) {
  const Metric& metric = catalog::metric(id);
  if (is_double(metric)) {
    return fmt::format("{:.6f}", catalog::as_double(id, reading) * metric.dcgm_scale);
  }
  if (metric.type == Type::kU64) {
    // MiB are cut, not rounded.
    const double divisor = std::round(1 / metric.dcgm_scale);
    return fmt::format("{}", metric.dcgm_scale < 1
                                 ? reading.u64() / static_cast<std::uint64_t>(divisor)
                                 : reading.u64() * static_cast<std::uint64_t>(metric.dcgm_scale));
  }
  // As a number with a point: a file may hold what no integer does. Adding 0 makes -0 plain.
  return fmt::format("{:.0f}",
                     std::round(catalog::as_double(id, reading) * metric.dcgm_scale) + 0.0);
}

void append_xid_labels(std::uint64_t code, Exposition& out) {
  out.label("err_code", fmt::format("{}", code));
  out.label("err_msg", code == 0 ? "No Error" : catalog::xid_text(code, catalog::Lang::kEn));
}

// Where the same answer has the help of our own name for it, that is not repeated: it would make
// what 8 GPUs answer longer by a twentieth.
std::string find_help(const Counter& family, std::span<const Family> native) {
  const catalog::Metric& metric = catalog::metric(family.metric);
  const bool is_same = family.computed == Computed::kNo && family.help == metric.en;
  const bool is_twin =
      is_same && std::ranges::find(native, metric.name, &Family::name) != native.end();
  return is_twin ? fmt::format("See {}.", metric.name) : family.help;
}

}  // namespace

void append_readings(const View& view, const Plan& plan, MetricId id, std::string Target::* labels,
                     Exposition& out) {
  for (const Target& target : plan.targets) {
    if (target.device.scope != Scope::kGpu || target.dcgm_labels.empty()) continue;
    const auto reading = read_one(view, target, id);
    if (!reading) continue;
    if (!std::isfinite(catalog::as_double(id, *reading) * catalog::metric(id).dcgm_scale)) {
      continue;
    }
    out.sample().labels(target.*labels);
    if (id == MetricId::gpu_last_xid) append_xid_labels(reading->u64(), out);
    out.number(value_text(id, *reading));
  }
}

void append_dcgm(const View& view, const Plan& plan, const Options& options,
                 std::span<const Family> native, Exposition& out) {
  for (const Counter& family : options.counters.families) {
    const std::string help = find_help(family, native);
    out.begin_family(family.name, family.type, help);
    switch (family.computed) {
      case Computed::kNo:
        append_readings(view, plan, family.metric, &Target::dcgm_labels, out);
        break;
      case Computed::kClockEvents:
        append_clock_events_count(view, plan, options.windows.clock_events_ns, out);
        break;
      case Computed::kXids:
        append_xids_count(view, plan, options.windows.xids_ns, out);
        break;
    }
  }
}

}  // namespace everywatt::exporter
