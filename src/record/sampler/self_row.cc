// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/self_row.h"

#include <algorithm>
#include <array>
#include <vector>

namespace everywatt::sampler {
namespace {

using catalog::MetricId;

struct LaneSums {
  std::uint64_t ticks = 0;
  std::uint64_t late = 0;
  std::uint64_t missed = 0;
  std::uint64_t cpu_ns = 0;
  std::uint64_t late_max_ns = 0;
};

struct Sums {
  std::array<LaneSums, catalog::kLaneCount> lanes;
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
  std::uint64_t call_ns = 0;
  std::uint64_t rejected = 0;
  std::uint64_t readings = 0;
  std::vector<std::uint32_t> lateness_us;

  void add(Tally& tally) {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    for (unsigned i = 0; i < catalog::kLaneCount; ++i) {
      Tally::LaneSums& from = tally.lane(static_cast<catalog::Lane>(i));
      lanes[i].ticks += from.ticks.load(kRelaxed);
      lanes[i].late += from.late.load(kRelaxed);
      lanes[i].missed += from.missed.load(kRelaxed);
      lanes[i].cpu_ns += from.cpu_ns.load(kRelaxed);
      lanes[i].late_max_ns = std::max(lanes[i].late_max_ns, from.late_max_ns.exchange(0, kRelaxed));
    }
    calls += tally.calls().calls.load(kRelaxed);
    failures += tally.calls().failures.load(kRelaxed);
    call_ns += tally.calls().call_ns.load(kRelaxed);
    rejected += tally.calls().rejected.load(kRelaxed);
    readings += tally.readings();
    for (const auto& late : tally.lateness_us()) {
      if (const std::uint32_t late_us = late.load(kRelaxed); late_us != 0) {
        lateness_us.push_back(late_us);
      }
    }
  }

  double lateness_p99_seconds() {
    if (lateness_us.empty()) return 0;
    const std::size_t at = lateness_us.size() * 99 / 100;
    std::ranges::nth_element(lateness_us, lateness_us.begin() + static_cast<std::ptrdiff_t>(at));
    return lateness_us[at] / 1e6;
  }
};

double seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

}  // namespace

SelfRow::SelfRow(recorder::Writer writer)
    : writer_(writer), row_(catalog::Scope::kPart, catalog::Lane::kSampling) {}

void SelfRow::write(const Shared& shared, std::int64_t now_ns) {
  Sums sums;
  shared.tallies.visit([&](Tally& tally) { sums.add(tally); });
  row_.clear();
  row_.time_ns = now_ns;
  for (unsigned lane = 0; lane < catalog::kLaneCount; ++lane) {
    const LaneSums& from = sums.lanes[lane];
    // Lanes that are not the sampler's stay unread.
    if (from.ticks == 0) continue;
    row_.set(MetricId::everywatt_ticks_total, from.ticks, lane);
    row_.set(MetricId::everywatt_late_ticks_total, from.late, lane);
    row_.set(MetricId::everywatt_missed_ticks_total, from.missed, lane);
    row_.set(MetricId::everywatt_lane_cpu_seconds_total, seconds(from.cpu_ns), lane);
    row_.set(MetricId::everywatt_lateness_max_seconds, seconds(from.late_max_ns), lane);
  }
  row_.set(MetricId::everywatt_lateness_p99_seconds, sums.lateness_p99_seconds());
  row_.set(MetricId::everywatt_driver_calls_total, sums.calls);
  row_.set(MetricId::everywatt_driver_call_seconds_total, seconds(sums.call_ns));
  row_.set(MetricId::everywatt_failed_calls_total, sums.failures);
  row_.set(MetricId::everywatt_readings_total, sums.readings);
  row_.set(MetricId::everywatt_rejected_readings_total, sums.rejected);
  row_.set(MetricId::everywatt_lost_events_total, std::uint64_t{0});
  row_.set(MetricId::everywatt_gpm_budget_used_ratio, shared.gpm_allowance.take_used_ratio(now_ns));
  writer_.append(row_);
}

}  // namespace everywatt::sampler
