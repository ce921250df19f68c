// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/totals.h"

#include <gtest/gtest.h>

#include "catalog/bands.h"
#include "record/recorder/writer.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

constexpr std::int64_t kMs = 1'000'000;

class TotalsTest : public testing::Test {
 protected:
  TotalsTest()
      : file_(*recorder::File::create_anonymous(recorder::live_layout({.gpus = 1}))),
        totals_(writer()) {
    begin(totals_, GpuIs::kAnother);
  }
  void begin(Totals& totals, GpuIs gpu, std::int64_t gauge_period_ms = 100) {
    totals.begin(gpu, {.last_gauge = gauge_,
                       .last_slow = slow_,
                       .power_limit_max_watts = 700,
                       .gauge_period_ns = gauge_period_ms * kMs});
  }
  recorder::Writer writer() {
    return *file_->writer(file_->slots(Scope::kGpu).front(), Lane::kTotals);
  }
  void see_gauge(std::int64_t ms, std::optional<double> utilization, std::uint64_t mask = 0) {
    gauge_.clear();
    gauge_.time_ns = ms * kMs;
    if (utilization) gauge_.set(MetricId::gpu_utilization_ratio, *utilization);
    gauge_.set(MetricId::gpu_clock_event_reasons_mask, mask);
    totals_.see_gauge(gauge_);
  }
  double sum(MetricId id, unsigned instance = 0) {
    return totals_.row().reading(id, instance).f64();
  }
  std::uint64_t count(MetricId id, unsigned instance = 0) {
    return totals_.row().reading(id, instance).u64();
  }

  std::unique_ptr<recorder::File> file_;
  Row gauge_{Scope::kGpu, Lane::kGauge};
  Row slow_{Scope::kGpu, Lane::kSlow};
  Totals totals_;
};

TEST_F(TotalsTest, TimeBelongsToTheReadingBeforeIt) {
  see_gauge(1'000, 0.5, 0x4);
  see_gauge(1'100, 0.0, 0x1);
  see_gauge(1'300, 0.5, 0);
  EXPECT_NEAR(sum(MetricId::gpu_observed_seconds_total), 0.3, 1e-9);
  EXPECT_NEAR(sum(MetricId::gpu_busy_seconds_total), 0.1, 1e-9);
  EXPECT_NEAR(sum(MetricId::gpu_clock_event_seconds_total, 2), 0.1, 1e-9);
  EXPECT_NEAR(sum(MetricId::gpu_clock_event_seconds_total, 0), 0.2, 1e-9);
  EXPECT_EQ(sum(MetricId::gpu_clock_event_seconds_total, 3), 0);
}

TEST_F(TotalsTest, UtilizationHoldsOverRowsThatLeaveItOut) {
  see_gauge(1'000, 0.5);
  see_gauge(1'100, std::nullopt);
  see_gauge(1'200, std::nullopt);
  EXPECT_NEAR(sum(MetricId::gpu_busy_seconds_total), 0.2, 1e-9);
}

TEST_F(TotalsTest, GapIsNotCounted) {
  see_gauge(1'000, 0.5);
  see_gauge(9'000, 0.5);
  see_gauge(9'100, 0.5);
  EXPECT_NEAR(sum(MetricId::gpu_observed_seconds_total), 0.1, 1e-9);
}

TEST_F(TotalsTest, GaugesReadRarelyAreCountedToo) {
  begin(totals_, GpuIs::kAnother, 5'000);
  totals_.set_power_source(PowerSource::kGauge);
  gauge_.set(MetricId::gpu_power_watts, 100.0);
  gauge_.set(MetricId::gpu_utilization_ratio, 0.5);
  for (const std::int64_t ms : {5'000, 10'000, 25'000}) {
    gauge_.time_ns = ms * kMs;
    totals_.see_gauge(gauge_);
  }
  EXPECT_EQ(sum(MetricId::gpu_observed_seconds_total), 5) << "15 s are a gap";
  EXPECT_EQ(sum(MetricId::gpu_busy_seconds_total), 5);
  EXPECT_EQ(sum(MetricId::gpu_energy_integrated_joules_total), 500);
}

TEST_F(TotalsTest, HeldIdleNeedsAHolderAndNoWork) {
  see_gauge(1'000, 0.0);
  see_gauge(1'100, 0.0);
  EXPECT_EQ(sum(MetricId::gpu_held_idle_seconds_total), 0);
  totals_.see_holder(true);
  see_gauge(1'200, 0.5);
  see_gauge(1'300, 0.5);
  EXPECT_NEAR(sum(MetricId::gpu_held_idle_seconds_total), 0.1, 1e-9);
}

TEST_F(TotalsTest, OneObservationARefresh) {
  see_gauge(1'000, 0.5);
  see_gauge(1'100, 0.5);  // a repeat
  see_gauge(1'200, 0.5);  // the period is over: a refresh to the same value
  see_gauge(1'300, 0.0);  // another value
  EXPECT_EQ(count(MetricId::gpu_utilization_sampled_ratio_bucket,
                  static_cast<unsigned>(catalog::band_of(catalog::kRatioBands, 0.5))),
            2u);
  EXPECT_EQ(count(MetricId::gpu_utilization_sampled_ratio_bucket, 0), 1u);
  EXPECT_NEAR(sum(MetricId::gpu_utilization_sampled_ratio_sum), 1.0, 1e-9);
}

TEST_F(TotalsTest, PowerIsCountedInTenthsOfTheLimit) {
  totals_.see_power(70, 1'000 * kMs);   // exactly a tenth: the first band
  totals_.see_power(700, 1'020 * kMs);  // the limit: the tenth
  totals_.see_power(942, 1'040 * kMs);  // above it
  EXPECT_EQ(count(MetricId::gpu_power_sampled_watts_bucket, 0), 1u);
  EXPECT_EQ(count(MetricId::gpu_power_sampled_watts_bucket, 9), 1u);
  EXPECT_EQ(count(MetricId::gpu_power_sampled_watts_bucket, 10), 1u);
  EXPECT_NEAR(sum(MetricId::gpu_energy_integrated_joules_total), 0.02 * 70 + 0.02 * 700, 1e-9);
}

TEST_F(TotalsTest, GaugePowerCountsOnlyWithoutABuffer) {
  gauge_.time_ns = 1'000 * kMs;
  gauge_.set(MetricId::gpu_power_watts, 100.0);
  totals_.see_gauge(gauge_);
  EXPECT_EQ(count(MetricId::gpu_power_sampled_watts_bucket, 1), 0u);
  totals_.set_power_source(PowerSource::kGauge);
  gauge_.time_ns = 1'100 * kMs;
  totals_.see_gauge(gauge_);
  EXPECT_EQ(count(MetricId::gpu_power_sampled_watts_bucket, 1), 1u);
}

TEST_F(TotalsTest, SumWithoutASourceIsAbsentForItsReason) {
  gauge_.time_ns = 1'000 * kMs;
  gauge_.set_all_absent(State::kNotSupported);
  totals_.see_gauge(gauge_);
  EXPECT_EQ(totals_.row().state(MetricId::gpu_busy_seconds_total), State::kNotSupported);
  EXPECT_EQ(totals_.row().state(MetricId::gpu_clock_event_seconds_total, 5), State::kNotSupported);
}

TEST_F(TotalsTest, RejectedEnergyIsCountedAsRejected) {
  totals_.count_readings(0, 0);
  const auto see = [&](double joules, std::int64_t ms) {
    slow_.clear();
    slow_.time_ns = ms * kMs;
    slow_.set(MetricId::gpu_energy_joules_total, joules);
    totals_.see_slow(slow_);
  };
  see(1'000, 1'000);
  see(4'000, 11'000);
  see(9e12, 21'000);
  EXPECT_EQ(sum(MetricId::gpu_energy_accumulated_joules_total), 3'000);
  EXPECT_EQ(count(MetricId::gpu_rejected_readings_total), 1u);
}

TEST_F(TotalsTest, AnotherProcessGoesOnWhereTheRingEnds) {
  see_gauge(1'000, 0.5);
  see_gauge(1'100, 0.5);
  slow_.set(MetricId::gpu_energy_joules_total, 1'000.0);
  slow_.time_ns = 1'100 * kMs;
  totals_.see_slow(slow_);
  totals_.write(1'100 * kMs);
  Totals next(writer());
  begin(next, GpuIs::kTheSame);
  slow_.set(MetricId::gpu_energy_joules_total, 1'500.0);
  slow_.time_ns = 5'000 * kMs;
  next.see_slow(slow_);
  EXPECT_NEAR(next.row().reading(MetricId::gpu_observed_seconds_total).f64(), 0.1, 1e-9);
  EXPECT_EQ(next.row().reading(MetricId::gpu_energy_accumulated_joules_total).f64(), 500)
      << "what was used while nobody counted";
}

TEST_F(TotalsTest, WhatTheDriverCountedWhileNobodyLookedIsNotForgotten) {
  const auto see = [this](Totals& totals, double violation, double joules, std::int64_t ms) {
    gauge_.time_ns = slow_.time_ns = ms * kMs;
    gauge_.set(MetricId::gpu_power_violation_seconds_total, violation);
    slow_.set(MetricId::gpu_energy_joules_total, joules);
    totals.see_gauge(gauge_);
    totals.see_slow(slow_);
  };
  see(totals_, 1.5, 1'000, 1'000);
  totals_.write(1'000 * kMs);
  Totals next(writer());
  begin(next, GpuIs::kTheSame);
  see(next, 2.25, 1'200, 3'000);
  EXPECT_EQ(next.row().reading(MetricId::gpu_power_violation_accumulated_seconds_total).f64(),
            0.75);
  EXPECT_EQ(next.row().reading(MetricId::gpu_energy_accumulated_joules_total).f64(), 200);
  next.write(3'000 * kMs);

  // Lost for a while: the newest rows say no more than that.
  gauge_.set_all_absent(State::kLost);
  slow_.set_all_absent(State::kLost);
  begin(next, GpuIs::kTheSame);
  see(next, 3.0, 1'300, 5'000);
  EXPECT_EQ(next.row().reading(MetricId::gpu_power_violation_accumulated_seconds_total).f64(), 1.5);
  EXPECT_EQ(next.row().reading(MetricId::gpu_energy_accumulated_joules_total).f64(), 300);
}

TEST_F(TotalsTest, AnotherGpuStartsAtZero) {
  see_gauge(1'000, 0.5);
  see_gauge(1'100, 0.5);
  totals_.write(1'100 * kMs);
  Totals next(writer());
  begin(next, GpuIs::kAnother);
  EXPECT_EQ(next.row().state(MetricId::gpu_observed_seconds_total), State::kNotRead);
}

}  // namespace
}  // namespace everywatt::sampler
