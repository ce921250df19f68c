// SPDX-License-Identifier: Apache-2.0
#include "read/view/view.h"

#include "base/fuzz_target.h"
#include "read/view/events.h"
#include "read/view/hostile_fixture.h"
#include "read/view/idle.h"
#include "read/view/processes.h"
#include "read/view/readiness.h"
#include "read/view/reasons.h"
#include "read/view/series.h"

namespace everywatt::view {
namespace {

using catalog::MetricId;

// A file may have thousands of slots; what holds for some holds for all.
constexpr std::uint32_t kMostSlots = 10;
constexpr std::int64_t kStepNs = 1'000'000'000;

void ask_series(const View& view, const Handle& handle) {
  const SeriesOptions raw{.from_ns = 0, .to_ns = view.now_ns(), .limit = 100};
  const Series rows = read_series(view, handle, raw);
  CHECK(rows.points.size() <= raw.limit);
  static_cast<void>(compute_increase(rows.points));
  static_cast<void>(summarize(rows.points));
  SeriesOptions steps = raw;
  steps.step_ns = kStepNs;
  CHECK(read_series(view, handle, steps).points.size() <= rows.points.size());
}

void ask_metric(const View& view, std::uint32_t slot, MetricId id) {
  const catalog::Metric& metric = catalog::metric(id);
  for (const unsigned instance : {0U, metric.instances - 1U}) {
    const Handle handle = view.handle(slot, id, instance);
    const Latest latest = view.latest(handle);
    if (!latest.is_ok()) CHECK(!absence_name(latest).empty());
    static_cast<void>(view.latest_at(handle, view.now_ns() / 2));
    if (metric.type == catalog::Type::kText) {
      static_cast<void>(view.text(slot, id, instance));
      continue;
    }
    static_cast<void>(view.number(handle));
    ask_series(view, handle);
  }
}

void ask_device(const View& view, const Device& device) {
  CHECK(!device.label().empty());
  CHECK(!status_name(device.status).empty());
  CHECK(!status_text(device.status, catalog::Lang::kZh).empty());
  for (unsigned lane = 0; lane < catalog::kLaneCount; ++lane) {
    CHECK(last_good_ns(view, device.slot, static_cast<catalog::Lane>(lane)) <= view.now_ns());
  }
  for (std::size_t place = 0; place < catalog::metrics().size(); ++place) {
    const auto id = static_cast<MetricId>(place);
    if (catalog::metric(id).scope != device.scope) continue;
    ask_metric(view, device.slot, id);
    if (place % 16 == 0) CHECK(!why(view, device, id).text.empty());
  }
}

void ask_owners(const View& view, std::uint32_t slot) {
  const Listing listing = list_processes(view, slot);
  CHECK(listing.time_ns <= view.now_ns());
  for (const Process& process : listing.processes) {
    CHECK(!process.type().empty());
    static_cast<void>(find_identity(view, process.identity_key));
    static_cast<void>(find_identity_of_pid(view, process.pid, view.now_ns()));
  }
}

void ask_all(const View& view) {
  CHECK(view.first_row_ns() <= view.last_row_ns() || view.last_row_ns() == 0);
  for (unsigned scope = 0; scope < catalog::kScopeCount; ++scope) {
    const auto found = devices(view, static_cast<catalog::Scope>(scope));
    for (std::size_t i = 0; i < found.size() && i < kMostSlots; ++i)
      ask_device(view, found[i]);
  }
  for (const Device& gpu : gpus(view)) {
    if (gpu.slot < kMostSlots) ask_owners(view, gpu.slot);
    static_cast<void>(find_gpu(gpus(view), gpu.uuid));
  }
  EventOptions some;
  some.limit = 3;
  const auto events = read_events(view, some);
  CHECK(events.size() <= some.limit);
  for (const Event& event : events) {
    CHECK(event.time_ns <= view.now_ns());
    CHECK(!event.kind_name().empty());
  }
  static_cast<void>(count_events(view));
  static_cast<void>(device_changes(view));
  static_cast<void>(find_idle(view));
  static_cast<void>(find_not_ready(view));
}

}  // namespace

// Every question of a view, asked of a file that is not to be trusted.
FUZZ_TARGET(view) {
  use_hostile_views(bytes, ask_all);
}

}  // namespace everywatt::view
