// SPDX-License-Identifier: Apache-2.0
//
// DCGM_EXP_...: what DCGM's exporter counts over the last minutes. Its label names and values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "catalog/event.h"
#include "catalog/glossary.h"
#include "read/view/events.h"
#include "read/view/series.h"
#include "serve/exporter/samples.h"

namespace everywatt::exporter {
namespace {

using catalog::MetricId;
using catalog::Scope;
using view::View;

bool is_shown(const Target& target) {
  return target.device.scope == Scope::kGpu && !target.dcgm_labels.empty();
}

// How much a sum has grown since then; nothing when there is no sum.
std::optional<double> growth_since(const View& view, const view::Handle& handle,
                                   std::int64_t since_ns) {
  const view::Latest now = view.latest(handle);
  if (!now.is_ok()) return std::nullopt;
  const view::Latest before = view.latest_at(handle, since_ns);
  if (before.is_ok()) {
    return catalog::as_double(handle.id, now.reading) -
           catalog::as_double(handle.id, before.reading);
  }
  // The GPU came, or the recorder was replaced, within the window: the sum itself may be older.
  const view::Series rows =
      view::read_series(view, handle, {.from_ns = since_ns, .to_ns = view.now_ns()});
  return view::compute_increase(rows.points);
}

std::string window_text(std::int64_t window_ns) {
  return fmt::format("{}", window_ns / 1'000'000);
}

}  // namespace

// DCGM's exporter counts the samples in which a reason was set; ours are readings of the mask.
void append_clock_events_count(const View& view, const Plan& plan, std::int64_t window_ns,
                               Exposition& out) {
  const std::int64_t since_ns = std::max<std::int64_t>(view.now_ns() - window_ns, 0);
  for (const Target& target : plan.targets) {
    if (!is_shown(target)) continue;
    const auto period_ns =
        static_cast<double>(view.period_ns(target.handle(MetricId::gpu_clock_event_reasons_mask)));
    for (const catalog::ClockEventReason& reason : catalog::clock_event_reasons()) {
      if (reason.dcgm.empty() || period_ns <= 0) continue;
      view::Handle handle = target.handle(MetricId::gpu_clock_event_seconds_total);
      handle.instance = static_cast<std::uint16_t>(reason.bit);
      const auto seconds = growth_since(view, handle, since_ns);
      if (!seconds) continue;
      out.sample()
          .labels(target.dcgm_labels)
          .label("clock_event", reason.dcgm)
          .label("window_size_in_ms", window_text(window_ns))
          .value(
              static_cast<std::uint64_t>(std::llround(std::max(*seconds, 0.0) * 1e9 / period_ns)));
    }
  }
}

void append_xids_count(const View& view, const Plan& plan, std::int64_t window_ns,
                       Exposition& out) {
  const std::int64_t since_ns = std::max<std::int64_t>(view.now_ns() - window_ns, 0);
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> counts;
  const view::EventOptions wanted{.from_ns = since_ns, .kinds = {catalog::EventKind::kXid}};
  for (const view::Event& event : view::read_events(view, wanted)) {
    // The kernel's log tells the same ones again.
    if (event.source != catalog::EventSource::kNvml || !event.slot || !event.code) continue;
    ++counts[{*event.slot, *event.code}];
  }
  for (const Target& target : plan.targets) {
    if (!is_shown(target)) continue;
    const auto begin = counts.lower_bound({target.device.slot, 0});
    const auto end = counts.lower_bound({target.device.slot + 1, 0});
    for (auto it = begin; it != end; ++it) {
      out.sample()
          .labels(target.dcgm_labels)
          .label("window_size_in_ms", window_text(window_ns))
          .label("xid", fmt::format("{}", it->first.second))
          .value(it->second);
    }
  }
}

}  // namespace everywatt::exporter
