// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "catalog/glossary.h"
#include "serve/exporter/samples.h"

namespace everywatt::exporter {
namespace {

using catalog::Metric;
using catalog::MetricId;
using catalog::Scope;
using catalog::Type;
using view::Latest;
using view::View;

// Bits of clock events that have no name are shown once they count something.
bool is_worth_showing(MetricId id, unsigned instance, catalog::Reading reading) {
  if (id == MetricId::gpu_clock_event_seconds_total) {
    return reading.f64() > 0 || instance < catalog::clock_event_reasons().size();
  }
  return true;
}

void append_xids(const View& view, const Target& target, Exposition& out) {
  constexpr auto kId = MetricId::gpu_xid_errors_total;
  const Metric& metric = catalog::metric(kId);
  catalog::Row row(metric.scope, metric.lane);
  // One row for 256 codes, of which most never come and have no series.
  if (!view.newest_row(target.device.slot, metric.lane, row)) return;
  for (unsigned code = 0; code < metric.instances; ++code) {
    const catalog::Reading reading = row.reading(kId, code);
    if (!reading.is_ok() || reading.u64() == 0) continue;
    out.sample().labels(target.labels).label(metric.instance_label, fmt::format("{}", code));
    out.value(reading.u64());
  }
}

void append_member(const View& view, const Target& target, MetricId id, Exposition& out) {
  const Metric& metric = catalog::metric(id);
  view::Handle handle = target.handle(id);
  if (handle.ring == view::Handle::kNoRing) return;
  if (id == MetricId::gpu_xid_errors_total) return append_xids(view, target, out);
  for (unsigned instance = 0; instance < metric.instances; ++instance) {
    handle.instance = static_cast<std::uint16_t>(instance);
    append_reading(target, id, instance, view.latest(handle).reading, out);
  }
}

}  // namespace

void append_reading(const Target& target, MetricId id, unsigned instance, catalog::Reading reading,
                    Exposition& out) {
  const Metric& metric = catalog::metric(id);
  if (!is_publishable(id, reading) || !is_worth_showing(id, instance, reading)) return;
  out.sample().labels(target.labels).labels(metric.labels);
  if (metric.instances > 1) {
    out.label(metric.instance_label, catalog::instance_name(id, instance));
  }
  put_value(out, id, reading);
}

bool is_publishable(MetricId id, catalog::Reading reading) {
  return reading.is_ok() &&
         (catalog::metric(id).type != Type::kF64 || std::isfinite(reading.f64()));
}

void put_value(Exposition& out, MetricId id, catalog::Reading reading) {
  const catalog::Metric& metric = catalog::metric(id);
  // Counts beyond 2^53 would lose their last digits as a double.
  if (metric.type == Type::kU64) {
    out.value(reading.u64());
    return;
  }
  double value = catalog::as_double(id, reading);
  // Our own sum of many readings ends in digits that are noise, and noise does not compress.
  if (metric.lane == catalog::Lane::kTotals && metric.resolution > 0) {
    const double steps_a_unit = std::round(1 / metric.resolution);
    const double rounded = std::round(value * steps_a_unit) / steps_a_unit;
    // A file may hold a sum that is too large for it.
    if (std::isfinite(rounded)) value = rounded;
  }
  out.value(value);
}

void append_family(const View& view, const Plan& plan, const Family& family, Exposition& out) {
  out.begin_family(family.name, family.type, family.help);
  for (const Target& target : plan.targets) {
    if (target.device.scope != family.scope) continue;
    for (const MetricId id : family.members)
      append_member(view, target, id, out);
  }
}

void append_clock_events(const View& view, const Plan& plan, Exposition& out) {
  constexpr unsigned kBits = 64;
  out.begin_family("gpu_clock_event_active", "gauge",
                   "1: this reason keeps the clocks lower than they could be now.");
  std::uint64_t named = 0;
  for (const auto& reason : catalog::clock_event_reasons())
    named |= std::uint64_t{1} << reason.bit;
  for (const Target& target : plan.targets) {
    if (target.device.scope != Scope::kGpu) continue;
    const Latest mask = view.latest(target.handle(MetricId::gpu_clock_event_reasons_mask));
    if (!mask.is_ok()) continue;
    for (unsigned bit = 0; bit < kBits; ++bit) {
      const std::uint64_t is_set = (mask.reading.u64() >> bit) & 1;
      if (is_set == 0 && ((named >> bit) & 1) == 0) continue;
      out.sample()
          .labels(target.labels)
          .label("reason", catalog::clock_event_slug(bit))
          .value(is_set);
    }
  }
}

void append_native(const View& view, const Plan& plan, std::span<const Family> families,
                   std::size_t processes_a_gpu, Exposition& out) {
  append_info(plan, out);
  for (const Family& family : families) {
    if (family.scope == Scope::kPart) continue;
    if (family.is_histogram()) {
      append_histogram(view, plan, family, out);
    } else {
      append_family(view, plan, family, out);
    }
  }
  append_clock_events(view, plan, out);
  append_processes(view, plan, processes_a_gpu, out);
}

}  // namespace everywatt::exporter
