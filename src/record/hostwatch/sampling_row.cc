// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/sampling_row.h"

#include <algorithm>

namespace everywatt::hostwatch {
namespace {

using catalog::Lane;
using catalog::MetricId;

constexpr std::array kLanes = {Lane::kHost, Lane::kHostProcess, Lane::kPart};
constexpr std::size_t kLatenessKept = 60;  // a minute at the default period
// No driver is called here, and what the kernel says of itself is taken as it is.
constexpr std::array kNotOurs = {
    MetricId::everywatt_driver_calls_total,      MetricId::everywatt_driver_call_seconds_total,
    MetricId::everywatt_failed_calls_total,      MetricId::everywatt_readings_total,
    MetricId::everywatt_rejected_readings_total, MetricId::everywatt_gpm_budget_used_ratio};

}  // namespace

SamplingRow::SamplingRow(recorder::Writer writer)
    : writer_(writer), row_(catalog::Scope::kPart, Lane::kSampling) {}

base::Result<SamplingRow> SamplingRow::open(recorder::File& file) {
  const std::uint32_t slot =
      file.slots(catalog::Scope::kPart).at(static_cast<std::size_t>(recorder::Part::kHost));
  auto writer = file.writer(slot, Lane::kSampling);
  if (!writer) return std::unexpected(writer.error());
  return SamplingRow(*writer);
}

void SamplingRow::begin_tick(std::int64_t period_ns, std::int64_t late_ns, std::uint64_t missed) {
  ++ticks_;
  missed_ticks_ += missed;
  if (late_ns > period_ns / 10) ++late_ticks_;
  late_max_ns_ = std::max(late_max_ns_, late_ns);
  if (late_ns_.size() < kLatenessKept) {
    late_ns_.push_back(late_ns);
  } else {
    late_ns_[ticks_ % kLatenessKept] = late_ns;
  }
}

double SamplingRow::lateness_p99_seconds() const {
  if (late_ns_.empty()) return 0;
  std::vector<std::int64_t> sorted = late_ns_;
  const std::size_t at = sorted.size() * 99 / 100;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(at));
  return static_cast<double>(sorted[at]) * 1e-9;
}

void SamplingRow::add_cpu(Lane lane, std::int64_t cpu_ns) {
  cpu_ns_[static_cast<unsigned>(lane)] += cpu_ns;
}

void SamplingRow::write(std::int64_t now_ns, std::uint64_t lost_events) {
  row_.clear();
  row_.time_ns = now_ns;
  for (const MetricId metric :
       {MetricId::everywatt_ticks_total, MetricId::everywatt_late_ticks_total,
        MetricId::everywatt_missed_ticks_total, MetricId::everywatt_lateness_max_seconds,
        MetricId::everywatt_lane_cpu_seconds_total}) {
    row_.set_absent(metric, catalog::State::kNotSupported);
  }
  for (const MetricId metric : kNotOurs)
    row_.set_absent(metric, catalog::State::kNotSupported);
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  for (const Lane lane : kLanes) {
    const auto index = static_cast<unsigned>(lane);
    row_.set(MetricId::everywatt_ticks_total, ticks_, index);
    row_.set(MetricId::everywatt_late_ticks_total, late_ticks_, index);
    row_.set(MetricId::everywatt_missed_ticks_total, missed_ticks_, index);
    row_.set(MetricId::everywatt_lateness_max_seconds, seconds(late_max_ns_), index);
    row_.set(MetricId::everywatt_lane_cpu_seconds_total, seconds(cpu_ns_[index]), index);
  }
  row_.set(MetricId::everywatt_lateness_p99_seconds, lateness_p99_seconds());
  row_.set(MetricId::everywatt_lost_events_total, lost_events);
  late_max_ns_ = 0;
  writer_.append(row_);
}

}  // namespace everywatt::hostwatch
