// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/sampling_row.h"

#include <gtest/gtest.h>

#include "record/hostwatch/fake_machine.h"

namespace everywatt::hostwatch {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::State;

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kMs = 1'000'000;

class SamplingRowTest : public testing::Test {
 protected:
  catalog::Row write(std::uint64_t lost_events = 0) {
    row_.write(++now_ns_, lost_events);
    return machine_.part_rows(recorder::Part::kHost, Lane::kSampling).back();
  }

  FakeMachine machine_;
  SamplingRow row_ = SamplingRow::open(machine_.recorder()).value();
  std::int64_t now_ns_ = kSecondNs;
  unsigned lane_ = static_cast<unsigned>(Lane::kHost);
};

TEST_F(SamplingRowTest, CountsTicksAndThoseLateByMoreThanATenth) {
  row_.begin_tick(kSecondNs, 100 * kMs, 0);
  row_.begin_tick(kSecondNs, 101 * kMs, 0);
  row_.begin_tick(kSecondNs, 2500 * kMs, 2);
  const catalog::Row row = write(7);
  EXPECT_EQ(row.reading(MetricId::everywatt_ticks_total, lane_).u64(), 3u);
  EXPECT_EQ(row.reading(MetricId::everywatt_late_ticks_total, lane_).u64(), 2u);
  EXPECT_EQ(row.reading(MetricId::everywatt_missed_ticks_total, lane_).u64(), 2u);
  EXPECT_EQ(row.reading(MetricId::everywatt_lost_events_total).u64(), 7u);
  const auto gauge = static_cast<unsigned>(Lane::kGauge);
  EXPECT_EQ(row.state(MetricId::everywatt_ticks_total, gauge), State::kNotSupported);
}

TEST_F(SamplingRowTest, TellsTheLongestLatenessSinceTheLastRow) {
  row_.begin_tick(kSecondNs, 30 * kMs, 0);
  EXPECT_DOUBLE_EQ(write().reading(MetricId::everywatt_lateness_max_seconds, lane_).f64(), 0.03);
  row_.begin_tick(kSecondNs, 10 * kMs, 0);
  EXPECT_DOUBLE_EQ(write().reading(MetricId::everywatt_lateness_max_seconds, lane_).f64(), 0.01);
}

TEST_F(SamplingRowTest, TellsTheLatenessOfTheLastMinuteThatHardlyAnyTickHas) {
  EXPECT_DOUBLE_EQ(write().reading(MetricId::everywatt_lateness_p99_seconds).f64(), 0);
  row_.begin_tick(kSecondNs, 40 * kMs, 0);
  for (int i = 0; i < 59; ++i)
    row_.begin_tick(kSecondNs, 1 * kMs, 0);
  EXPECT_DOUBLE_EQ(write().reading(MetricId::everywatt_lateness_p99_seconds).f64(), 0.04);
  for (int i = 0; i < 60; ++i)  // the late one is more than a minute ago
    row_.begin_tick(kSecondNs, 2 * kMs, 0);
  EXPECT_DOUBLE_EQ(write().reading(MetricId::everywatt_lateness_p99_seconds).f64(), 0.002);
}

TEST_F(SamplingRowTest, AddsUpTheCpuTimeOfEachLane) {
  row_.add_cpu(Lane::kHost, 2 * kMs);
  row_.add_cpu(Lane::kPart, 5 * kMs);
  row_.add_cpu(Lane::kHost, 1 * kMs);
  const catalog::Row row = write();
  EXPECT_NEAR(row.reading(MetricId::everywatt_lane_cpu_seconds_total, lane_).f64(), 0.003, 1e-12);
}

}  // namespace
}  // namespace everywatt::hostwatch
