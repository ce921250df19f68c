// SPDX-License-Identifier: Apache-2.0
#include "record/importer/totals_rows.h"

#include <algorithm>

#include "record/importer/model.h"
#include "record/sampler/totals.h"

namespace everywatt::importer {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::State;

constexpr std::int64_t kGaugeNs = 100'000'000;  // how often the performance counters move

// A GPU's rows of all lanes in order of time; in one moment the lists of processes come first.
std::vector<const Row*> merge_lanes(std::span<const RingRows> rings, std::uint32_t slot) {
  std::vector<const Row*> merged;
  for (const Lane lane : {Lane::kProcess, Lane::kGauge, Lane::kGpm, Lane::kPower, Lane::kSlow}) {
    for (const RingRows& ring : rings) {
      if (ring.slot != slot || ring.lane != lane) continue;
      for (const Row& row : ring.rows)
        merged.push_back(&row);
    }
  }
  std::ranges::stable_sort(merged, {}, [](const Row* row) { return row->time_ns; });
  return merged;
}

// What gpu_readings_total counts: cells with a value.
std::uint64_t count_state(const Row& row, State state) {
  std::uint64_t count = 0;
  for (const MetricId id : catalog::schema(row.scope(), row.lane()).metrics) {
    for (unsigned i = 0; i < catalog::metric(id).instances; ++i)
      count += row.state(id, i) == state ? 1 : 0;
  }
  return count;
}

void see(sampler::Totals& totals, const Row& row) {
  switch (row.lane()) {
    case Lane::kProcess:
      totals.see_holder(row.reading(MetricId::process_count).u64() > 0);
      break;
    case Lane::kGauge:
      totals.see_gauge(row);
      break;
    case Lane::kGpm:
      totals.see_gpm(row);
      break;
    case Lane::kSlow:
      totals.see_slow(row);
      break;
    case Lane::kPower:
      if (const auto watts = row.reading(MetricId::gpu_power_sample_watts); watts.is_ok()) {
        totals.see_power(watts.f64(), row.time_ns);
      }
      break;
    default:
      break;
  }
  totals.count_readings(count_state(row, State::kOk), count_state(row, State::kInvalid));
}

}  // namespace

std::uint64_t count_totals(std::span<const RingRows> rings, std::uint32_t slot) {
  const std::vector<const Row*> rows = merge_lanes(rings, slot);
  if (rows.empty()) return 0;
  const std::int64_t span_ns = rows.back()->time_ns - rows.front()->time_ns;
  return static_cast<std::uint64_t>(span_ns / kTotalsNs) + 1;
}

base::Status write_totals(recorder::File& file, std::span<const RingRows> rings,
                          std::uint32_t slot) {
  auto writer = file.writer(slot, Lane::kTotals);
  if (!writer) return std::unexpected(writer.error());
  sampler::Totals totals(*writer);
  const Row no_gauge(catalog::Scope::kGpu, Lane::kGauge);
  const Row no_slow(catalog::Scope::kGpu, Lane::kSlow);
  totals.begin(sampler::GpuIs::kAnother, {.last_gauge = no_gauge,
                                          .last_slow = no_slow,
                                          .power_limit_max_watts = kPowerLimitWatts,
                                          .gauge_period_ns = kGaugeNs});
  const std::vector<const Row*> rows = merge_lanes(rings, slot);
  std::int64_t next_ns = rows.empty() ? 0 : rows.front()->time_ns + kTotalsNs;
  for (const Row* row : rows) {
    for (; row->time_ns >= next_ns; next_ns += kTotalsNs)
      totals.write(next_ns);
    see(totals, *row);
  }
  if (!rows.empty()) totals.write(rows.back()->time_ns);
  return {};
}

}  // namespace everywatt::importer
