// SPDX-License-Identifier: Apache-2.0
#include "read/view/idle.h"

#include <algorithm>

#include "read/view/processes.h"
#include "read/view/series.h"

namespace everywatt::view {
namespace {

using catalog::MetricId;
using catalog::State;

// In MIG mode programs run in instances only; there may be none.
bool is_split(const View& view, const Device& gpu, const std::vector<Device>& all) {
  const Latest mode = view.latest(gpu.slot, MetricId::gpu_mig_mode);
  if (!gpu.is_mig() && mode.is_ok() && mode.reading.u64() != 0) return true;
  return std::ranges::any_of(all, [&](const Device& other) {
    return other.parent == gpu.slot && other.status == DeviceStatus::kOk;
  });
}

bool has_little_memory_used(const View& view, const Device& gpu, const IdleOptions& options) {
  const Latest used = view.latest(gpu.slot, MetricId::gpu_memory_used_bytes);
  const Latest free = view.latest(gpu.slot, MetricId::gpu_memory_free_bytes);
  if (!used.is_ok()) return false;
  if (options.free_at_least_bytes > 0 &&
      (!free.is_ok() || free.reading.u64() < options.free_at_least_bytes)) {
    return false;
  }
  return used.reading.u64() < options.used_below_bytes;
}

bool is_quiet(const View& view, const Device& gpu, const IdleOptions& options) {
  bool is_known = false;
  bool is_offered = false;
  for (const MetricId id :
       {MetricId::gpu_utilization_ratio, MetricId::gpu_graphics_engine_active_ratio}) {
    const Handle handle = view.handle(gpu.slot, id);
    const Latest latest = view.latest(handle);
    is_offered |= latest.reading.state != State::kNotSupported;
    if (!latest.is_ok()) continue;
    is_known = true;
    const Series series = read_series(
        view, handle, {.from_ns = view.now_ns() - options.window_ns, .to_ns = view.now_ns()});
    const auto summary = summarize(series.points);
    if (summary && summary->max >= options.utilization_below_ratio) return false;
  }
  return is_known || !is_offered;
}

}  // namespace

std::vector<Device> find_idle(const View& view, const IdleOptions& options) {
  const std::vector<Device> all = gpus(view);
  std::vector<Device> idle;
  for (const Device& gpu : all) {
    if (gpu.status != DeviceStatus::kOk || is_split(view, gpu, all)) continue;
    const Listing listing = list_processes(view, gpu.slot, Join::kDriverOnly);
    if (!listing.is_known() || !listing.processes.empty()) continue;
    if (has_little_memory_used(view, gpu, options) && is_quiet(view, gpu, options)) {
      idle.push_back(gpu);
    }
  }
  return idle;
}

}  // namespace everywatt::view
