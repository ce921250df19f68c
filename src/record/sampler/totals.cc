// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/totals.h"

#include <algorithm>

#include "catalog/bands.h"

namespace everywatt::sampler {
namespace {

using catalog::MetricId;
using catalog::Reading;
using catalog::Row;
using catalog::State;

// Utilization is refreshed each 200 ms at the driver; ticks are not that exact.
constexpr std::int64_t kRefreshNs = 180'000'000;
constexpr double kPowerMaxFactor = 3;  // as for the range of power readings

}  // namespace

Totals::Totals(recorder::Writer writer)
    : writer_(writer), row_(catalog::Scope::kGpu, catalog::Lane::kTotals) {}

void Totals::begin(GpuIs gpu, const Start& start) {
  power_limit_max_watts_ = start.power_limit_max_watts;
  longest_hold_ns_ = std::max(kLongestHoldNs, 2 * start.gauge_period_ns);
  if (gpu == GpuIs::kAnother || !writer_.read_last(row_)) row_.clear();
  held_since_ns_ = 0;
  observed_ns_ = 0;
  integral_ = {};
  if (gpu == GpuIs::kAnother) {
    energy_ = {};
    corrected_ = {};
    uncorrected_ = {};
    power_violation_ = {};
    thermal_violation_ = {};
    return;
  }
  // Where the last rows say only that the GPU was lost, what was seen before that still holds.
  const Row& last_slow = start.last_slow;
  const auto base = [&](MetricId id, auto set) {
    if (const Reading last = last_slow.reading(id); last.is_ok()) set(last);
  };
  base(MetricId::gpu_energy_joules_total,
       [&](Reading last) { energy_.set_base(last.f64(), last_slow.time_ns); });
  base(MetricId::gpu_ecc_corrected_volatile_errors_total,
       [&](Reading last) { corrected_.set_base(last.u64()); });
  base(MetricId::gpu_ecc_uncorrected_volatile_errors_total,
       [&](Reading last) { uncorrected_.set_base(last.u64()); });
  base(MetricId::gpu_thermal_violation_seconds_total,
       [&](Reading last) { thermal_violation_.set_base(last.f64()); });
  const Reading power = start.last_gauge.reading(MetricId::gpu_power_violation_seconds_total);
  if (power.is_ok()) power_violation_.set_base(power.f64());
}

// A sum whose source is there begins at 0; one without a source is absent for the source's reason.
bool Totals::has_source(MetricId id, const Reading& source) {
  if (row_.state(id) == State::kOk) return source.is_ok();
  if (!source.is_ok()) {
    if (source.state != State::kNotRead) row_.set_absent(id, source.state);
    return false;
  }
  for (unsigned i = 0; i < catalog::metric(id).instances; ++i) {
    row_.set_reading(id, {State::kOk, 0}, i);
  }
  return true;
}

void Totals::add(MetricId id, double more, unsigned instance) {
  row_.set(id, row_.reading(id, instance).f64() + more, instance);
}

void Totals::count(MetricId id, std::uint64_t more, unsigned instance) {
  row_.set(id, row_.reading(id, instance).u64() + more, instance);
}

void Totals::observe(MetricId bucket, MetricId sum, std::span<const double> bounds, double value,
                     double value_in_bounds) {
  const std::size_t band = catalog::band_of(bounds, value_in_bounds);
  const auto last = static_cast<std::size_t>(catalog::metric(bucket).instances - 1);
  count(bucket, 1, static_cast<unsigned>(std::min(band, last)));
  add(sum, value);
}

void Totals::see_gauge(const Row& row) {
  see_held(row);
  see_refresh(row);
  const Reading instant = row.reading(MetricId::gpu_power_instant_watts);
  const Reading power = instant.is_ok() ? instant : row.reading(MetricId::gpu_power_watts);
  if (has_source(MetricId::gpu_energy_integrated_joules_total, power) &&
      power_source_ == PowerSource::kGauge) {
    integrate(power.f64(), row.time_ns, longest_hold_ns_);
  }
  const Reading violation = row.reading(MetricId::gpu_power_violation_seconds_total);
  if (has_source(MetricId::gpu_power_violation_accumulated_seconds_total, violation)) {
    add(MetricId::gpu_power_violation_accumulated_seconds_total,
        power_violation_.see(violation.f64()));
  }
}

// Counts the time since the last reading as what that one said.
void Totals::see_held(const Row& row) {
  const bool is_fresh =
      std::ranges::any_of(catalog::schema(catalog::Scope::kGpu, catalog::Lane::kGauge).metrics,
                          [&](MetricId id) { return row.state(id) == State::kOk; });
  const std::int64_t held_ns = row.time_ns - held_since_ns_;
  if (is_fresh && held_since_ns_ != 0 && held_ns > 0 && held_ns <= longest_hold_ns_) {
    count_held(static_cast<double>(held_ns) / 1e9);
  }
  held_since_ns_ = is_fresh ? row.time_ns : 0;

  const Reading mask = row.reading(MetricId::gpu_clock_event_reasons_mask);
  has_mask_ = has_source(MetricId::gpu_clock_event_seconds_total, mask);
  held_mask_ = mask.bits;
  const Reading utilization = row.reading(MetricId::gpu_utilization_ratio);
  has_source(MetricId::gpu_busy_seconds_total, utilization);
  has_source(MetricId::gpu_held_idle_seconds_total, utilization);
  if (utilization.state == State::kNotRead) return;
  held_utilization_.reset();
  if (utilization.is_ok()) held_utilization_ = utilization.f64();
}

void Totals::count_held(double seconds) {
  add(MetricId::gpu_observed_seconds_total, seconds);
  if (held_utilization_ > 0.0) add(MetricId::gpu_busy_seconds_total, seconds);
  if (held_utilization_ == 0.0 && has_holder_) {
    add(MetricId::gpu_held_idle_seconds_total, seconds);
  }
  const unsigned reasons = catalog::metric(MetricId::gpu_clock_event_seconds_total).instances;
  for (unsigned bit = 0; has_mask_ && bit < reasons; ++bit) {
    if ((held_mask_ >> bit & 1) != 0) add(MetricId::gpu_clock_event_seconds_total, seconds, bit);
  }
}

// One observation a refresh at the driver: when the value is another one, or its period is over.
void Totals::see_refresh(const Row& row) {
  const Reading utilization = row.reading(MetricId::gpu_utilization_ratio);
  has_source(MetricId::gpu_utilization_sampled_ratio_sum, utilization);
  if (!has_source(MetricId::gpu_utilization_sampled_ratio_bucket, utilization)) return;
  const double ratio = utilization.f64();
  if (observed_utilization_ == ratio && row.time_ns - observed_ns_ < kRefreshNs) return;
  observed_utilization_ = ratio;
  observed_ns_ = row.time_ns;
  observe(MetricId::gpu_utilization_sampled_ratio_bucket,
          MetricId::gpu_utilization_sampled_ratio_sum, catalog::kRatioBands, ratio, ratio);
}

void Totals::see_gpm(const Row& row) {
  const Reading active = row.reading(MetricId::gpu_sm_active_ratio);
  has_source(MetricId::gpu_sm_active_sampled_ratio_sum, active);
  if (!has_source(MetricId::gpu_sm_active_sampled_ratio_bucket, active)) return;
  observe(MetricId::gpu_sm_active_sampled_ratio_bucket, MetricId::gpu_sm_active_sampled_ratio_sum,
          catalog::kRatioBands, active.f64(), active.f64());
}

void Totals::integrate(double watts, std::int64_t time_ns, std::int64_t longest_hold_ns) {
  has_source(MetricId::gpu_energy_integrated_joules_total, Reading::of(watts));
  add(MetricId::gpu_energy_integrated_joules_total, integral_.see(watts, time_ns, longest_hold_ns));
  const Reading limit = power_limit_max_watts_ > 0 ? Reading::of(power_limit_max_watts_)
                                                   : Reading::absent(State::kNotSupported);
  has_source(MetricId::gpu_power_sampled_watts_sum, limit);
  if (!has_source(MetricId::gpu_power_sampled_watts_bucket, limit)) return;
  observe(MetricId::gpu_power_sampled_watts_bucket, MetricId::gpu_power_sampled_watts_sum,
          catalog::kPowerBands, watts, watts / power_limit_max_watts_);
}

void Totals::see_slow(const Row& row) {
  const Reading energy = row.reading(MetricId::gpu_energy_joules_total);
  if (has_source(MetricId::gpu_energy_accumulated_joules_total, energy)) {
    const EnergyGrowth::Step step =
        energy_.see(energy.f64(), row.time_ns, power_limit_max_watts_ * kPowerMaxFactor);
    add(MetricId::gpu_energy_accumulated_joules_total, step.joules);
    if (step.is_rejected) count(MetricId::gpu_rejected_readings_total);
  }
  const Reading thermal = row.reading(MetricId::gpu_thermal_violation_seconds_total);
  if (has_source(MetricId::gpu_thermal_violation_accumulated_seconds_total, thermal)) {
    add(MetricId::gpu_thermal_violation_accumulated_seconds_total,
        thermal_violation_.see(thermal.f64()));
  }
  see_errors(row);
}

void Totals::see_errors(const Row& row) {
  const Reading corrected = row.reading(MetricId::gpu_ecc_corrected_volatile_errors_total);
  if (has_source(MetricId::gpu_ecc_corrected_accumulated_errors_total, corrected)) {
    count(MetricId::gpu_ecc_corrected_accumulated_errors_total, corrected_.see(corrected.u64()));
  }
  const Reading uncorrected = row.reading(MetricId::gpu_ecc_uncorrected_volatile_errors_total);
  if (has_source(MetricId::gpu_ecc_uncorrected_accumulated_errors_total, uncorrected)) {
    count(MetricId::gpu_ecc_uncorrected_accumulated_errors_total,
          uncorrected_.see(uncorrected.u64()));
  }
}

void Totals::count_readings(std::uint64_t readings, std::uint64_t rejected) {
  count(MetricId::gpu_readings_total, readings);
  count(MetricId::gpu_rejected_readings_total, rejected);
}

void Totals::write(std::int64_t now_ns) {
  row_.time_ns = std::max(now_ns, row_.time_ns);
  writer_.append(row_);
}

}  // namespace everywatt::sampler
