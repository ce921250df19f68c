// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "catalog/row.h"
#include "record/recorder/writer.h"
#include "record/sampler/accumulate.h"
#include "record/sampler/same_gpu.h"

namespace everywatt::sampler {

enum class PowerSource { kBuffer, kGauge };

// The accumulators of one device: what a bounded ring could not give back. Advanced by each new row
// of the other lanes, written once a second; goes on where the ring ends, so that it never falls
// while the machine is up. One thread.
//
// Time between two readings counts as what the first one said, but not when they lie further apart
// than two seconds, or than two periods of the gauges if those are longer: what was not seen is not
// counted.
class Totals {
 public:
  explicit Totals(recorder::Writer writer);

  struct Start {
    // The newest rows of these lanes, or empty ones: the driver's counts are counted from there.
    const catalog::Row& last_gauge;
    const catalog::Row& last_slow;
    double power_limit_max_watts = 0;
    std::int64_t gauge_period_ns = 0;
  };
  // Goes on from the ring.
  void begin(GpuIs gpu, const Start& start);

  void see_gauge(const catalog::Row& row);
  void see_gpm(const catalog::Row& row);
  void see_slow(const catalog::Row& row);
  // A sample of the driver's power buffer with its boottime.
  void see_power(double watts, std::int64_t time_ns) { integrate(watts, time_ns, kLongestHoldNs); }
  // What power is summed from: the buffer where there is one, and nothing until that is known.
  void set_power_source(PowerSource source) { power_source_ = source; }
  // Whether a process holds memory of the device.
  void see_holder(bool has_holder) { has_holder_ = has_holder; }
  // What is counted once a second: the rows' readings with a value, and those rejected.
  void count_readings(std::uint64_t readings, std::uint64_t rejected);

  void write(std::int64_t now_ns);
  const catalog::Row& row() const { return row_; }

 private:
  static constexpr std::int64_t kLongestHoldNs = 2'000'000'000;

  bool has_source(catalog::MetricId id, const catalog::Reading& source);
  void count_held(double seconds);
  void add(catalog::MetricId id, double more, unsigned instance = 0);
  void count(catalog::MetricId id, std::uint64_t more = 1, unsigned instance = 0);
  void observe(catalog::MetricId bucket, catalog::MetricId sum, std::span<const double> bounds,
               double value, double value_in_bounds);
  void see_held(const catalog::Row& row);
  void see_refresh(const catalog::Row& row);
  void integrate(double watts, std::int64_t time_ns, std::int64_t longest_hold_ns);
  void see_errors(const catalog::Row& row);

  recorder::Writer writer_;
  catalog::Row row_;
  double power_limit_max_watts_ = 0;
  std::int64_t longest_hold_ns_ = kLongestHoldNs;  // of a gauge

  // What the gauge said last, and when.
  std::int64_t held_since_ns_ = 0;
  std::uint64_t held_mask_ = 0;
  bool has_mask_ = false;
  std::optional<double> held_utilization_;
  bool has_holder_ = false;

  std::int64_t observed_ns_ = 0;  // the refresh of utilization counted last
  std::optional<double> observed_utilization_;

  PowerSource power_source_ = PowerSource::kBuffer;
  PowerIntegral integral_;
  EnergyGrowth energy_;
  CountGrowth corrected_;
  CountGrowth uncorrected_;
  SumGrowth power_violation_;
  SumGrowth thermal_violation_;
};

}  // namespace everywatt::sampler
