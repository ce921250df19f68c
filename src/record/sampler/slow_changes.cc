// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/slow_changes.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace everywatt::sampler {
namespace {

using catalog::EventKind;
using catalog::MetricId;
using catalog::Reading;
using catalog::Row;

struct Pair {
  Reading before;
  Reading now;
  bool is_known() const { return before.is_ok() && now.is_ok(); }
  bool is_other() const { return is_known() && before.bits != now.bits; }
  bool has_grown() const { return is_known() && now.u64() > before.u64(); }
};

Pair pair_of(const Row& before, const Row& now, MetricId id, unsigned instance = 0) {
  return {before.reading(id, instance), now.reading(id, instance)};
}

Event event_of(EventKind kind, std::uint64_t code, std::uint32_t device, std::string text) {
  return {.kind = kind,
          .source = catalog::EventSource::kReadings,
          .code = code,
          .device = device,
          .text = std::move(text)};
}

void add_errors(const Row& before, const Row& now, std::uint32_t device,
                std::vector<Event>& events) {
  const Pair errors = pair_of(before, now, MetricId::gpu_ecc_uncorrected_volatile_errors_total);
  if (!errors.has_grown()) return;
  const std::uint64_t more = errors.now.u64() - errors.before.u64();
  events.push_back(event_of(EventKind::kEcc, more, device,
                            fmt::format("{} more uncorrected memory errors", more)));
}

void add_remaps(const Row& before, const Row& now, std::uint32_t device,
                std::vector<Event>& events) {
  struct Remap {
    MetricId metric;
    const char* text;
  };
  constexpr std::array kRemaps = {
      Remap{MetricId::gpu_remapped_rows_correctable_total,
            "memory rows were remapped after corrected errors"},
      Remap{MetricId::gpu_remapped_rows_uncorrectable_total,
            "memory rows were remapped after uncorrected errors"},
      Remap{MetricId::gpu_remapped_rows_pending, "a row remapping waits for a reset of the GPU"},
      Remap{MetricId::gpu_remapped_rows_failure, "a memory row could not be remapped"},
  };
  for (const Remap& remap : kRemaps) {
    const Pair rows = pair_of(before, now, remap.metric);
    if (!rows.has_grown()) continue;
    events.push_back(event_of(EventKind::kRowRemapped, rows.now.u64(), device, remap.text));
  }
}

void add_links(const Row& before, const Row& now, std::uint32_t device,
               std::vector<Event>& events) {
  const unsigned links = catalog::metric(MetricId::gpu_nvlink_state).instances;
  for (unsigned link = 0; link < links; ++link) {
    const Pair state = pair_of(before, now, MetricId::gpu_nvlink_state, link);
    if (!state.is_other()) continue;
    const bool is_up = state.now.u64() != 0;
    events.push_back(event_of(is_up ? EventKind::kLinkUp : EventKind::kLinkDown, link, device,
                              fmt::format("NVLink {} is {}", link, is_up ? "up" : "down")));
  }
}

void add_power_limit(const Row& before, const Row& now, std::uint32_t device,
                     std::vector<Event>& events) {
  const Pair limit = pair_of(before, now, MetricId::gpu_power_limit_enforced_watts);
  if (!limit.is_other()) return;
  events.push_back(
      event_of(EventKind::kPowerLimitChanged,
               static_cast<std::uint64_t>(std::llround(limit.now.f64() * 1e3)), device,
               fmt::format("power limit {:g} W, was {:g} W", limit.now.f64(), limit.before.f64())));
}

}  // namespace

std::vector<Event> find_slow_changes(const Row& before, const Row& now, std::uint32_t device) {
  std::vector<Event> events;
  add_errors(before, now, device, events);
  add_remaps(before, now, device, events);
  add_links(before, now, device, events);
  add_power_limit(before, now, device, events);
  return events;
}

bool is_identity_stale(const Row& before, const Row& now) {
  constexpr std::array kWatched = {MetricId::gpu_ecc_mode, MetricId::gpu_mig_mode,
                                   MetricId::gpu_power_limit_requested_watts,
                                   MetricId::gpu_power_limit_enforced_watts};
  for (const MetricId id : kWatched) {
    if (pair_of(before, now, id).is_other()) return true;
  }
  return false;
}

}  // namespace everywatt::sampler
