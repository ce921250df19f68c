// SPDX-License-Identifier: Apache-2.0
#include "read/view/view.h"

#include <gtest/gtest.h>

#include "read/view/view_fixture.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

constexpr auto kPower = MetricId::gpu_power_watts;

TEST(View, GivesTheNewestReadingWithItsAge) {
  Machine machine;
  machine.add_power(0, 10 * kSecond, 100);
  machine.add_power(0, 10 * kSecond + 100 * kMs, 110.5);
  const auto view = machine.view(10 * kSecond + 140 * kMs);
  const Latest latest = view->latest(machine.gpu(), kPower);
  EXPECT_EQ(latest.absence, Absence::kPresent);
  EXPECT_EQ(latest.reading, catalog::Reading::of(110.5));
  EXPECT_EQ(latest.time_ns, 10 * kSecond + 100 * kMs);
  EXPECT_EQ(latest.age_ns, 40 * kMs);
  EXPECT_EQ(view->number(machine.gpu(), kPower), 110.5);
}

TEST(View, LooksNoFurtherThanNow) {
  Machine machine;
  for (int i = 0; i < 50; ++i)
    machine.add_power(0, 10 * kSecond + i * 100 * kMs, i);
  const auto view = machine.view(12 * kSecond + 50 * kMs);
  EXPECT_EQ(view->number(machine.gpu(), kPower), 20);
  view->set_now(10 * kSecond);
  EXPECT_EQ(view->number(machine.gpu(), kPower), 0);
  view->set_now(10 * kSecond - 1);
  EXPECT_EQ(view->latest(machine.gpu(), kPower).absence, Absence::kNoRows);
}

TEST(View, WithoutAClockNowIsTheLastRow) {
  Machine machine;
  machine.add_power(0, 10 * kSecond, 1);
  machine.add_power(0, 11 * kSecond, 2);
  const auto view = machine.view();
  EXPECT_EQ(view->now_ns(), 11 * kSecond);
  EXPECT_EQ(view->first_row_ns(), 10 * kSecond);
  EXPECT_EQ(view->last_row_ns(), 11 * kSecond);
  EXPECT_EQ(view->number(machine.gpu(), kPower), 2);
}

TEST(View, LooksPastRowsInWhichAMetricWasNotDueOrDidNotMove) {
  Machine machine;
  machine.add_gpu(0, Lane::kGauge, 10 * kSecond, [](Row& row) {
    row.set(kPower, 1.0);
    row.set(MetricId::gpu_utilization_ratio, 0.5);
  });
  machine.add_gpu(0, Lane::kGauge, 10 * kSecond + 100 * kMs, [](Row& row) {
    row.set_absent(MetricId::gpu_utilization_ratio, State::kNoNewValue);
  });
  machine.add_power(0, 10 * kSecond + 200 * kMs, 3);
  const auto view = machine.view();
  const Latest latest = view->latest(machine.gpu(), MetricId::gpu_utilization_ratio);
  EXPECT_EQ(latest.reading, catalog::Reading::of(0.5));
  EXPECT_EQ(latest.age_ns, 200 * kMs);
}

TEST(View, AReasonInTheNewestRowIsNotHiddenByAnOlderValue) {
  Machine machine;
  machine.add_power(0, 10 * kSecond, 1);
  machine.add_gpu(0, Lane::kGauge, 10 * kSecond + 100 * kMs,
                  [](Row& row) { row.set_absent(kPower, State::kInvalid); });
  const Latest latest = machine.view()->latest(machine.gpu(), kPower);
  EXPECT_EQ(latest.reading.state, State::kInvalid);
  EXPECT_EQ(latest.absence, Absence::kState);
}

// A last good value that is served for ever is the oldest complaint about exporters.
TEST(View, AValueIsStaleAfterThreePeriods) {
  Machine machine;
  for (int i = 0; i < 5; ++i)
    machine.add_power(0, 10 * kSecond + i * 100 * kMs, 1);
  const std::int64_t last = 10 * kSecond + 400 * kMs;
  EXPECT_TRUE(machine.view(last + 300 * kMs)->latest(machine.gpu(), kPower).is_ok());
  const Latest latest = machine.view(last + 301 * kMs)->latest(machine.gpu(), kPower);
  EXPECT_FALSE(latest.is_ok());
  EXPECT_EQ(latest.absence, Absence::kStale);
  EXPECT_EQ(latest.reading.bits, 0u);
  EXPECT_EQ(latest.time_ns, last);
  EXPECT_EQ(latest.age_ns, 301 * kMs);
}

TEST(View, WhatADeviceLacksIsNotStale) {
  Machine machine;
  machine.add_gpu(0, Lane::kGpm, 10 * kSecond,
                  [](Row& row) { row.set_all_absent(State::kNotSupported); });
  const Latest latest =
      machine.view(500 * kSecond)->latest(machine.gpu(), MetricId::gpu_sm_active_ratio);
  EXPECT_EQ(latest.absence, Absence::kState);
  EXPECT_EQ(latest.reading.state, State::kNotSupported);
}

TEST(View, ALaneThatRunsSlowerHereIsStaleLater) {
  Machine machine;
  for (int i = 0; i < 5; ++i)
    machine.add_power(0, (10 + 5 * i) * kSecond, 1);
  const auto view = machine.view(44 * kSecond);
  EXPECT_EQ(view->period_ns(view->handle(machine.gpu(), kPower)), 5 * kSecond);
  EXPECT_TRUE(view->latest(machine.gpu(), kPower).is_ok());
  EXPECT_FALSE(machine.view(46 * kSecond)->latest(machine.gpu(), kPower).is_ok());
}

// Its rows come once a second, and begin when it appears, not at a whole period.
TEST(View, AMigInstanceThatHasJustComeIsNotStaleBeforeThreeOfItsPeriods) {
  Machine machine({.migs_per_gpu = 1});
  const std::uint32_t mig = machine.mig(0, 0);
  const auto add = [&](std::int64_t time_ns) {
    machine.add(mig, Scope::kGpu, Lane::kGauge, time_ns,
                [](Row& row) { row.set(MetricId::gpu_memory_used_bytes, std::uint64_t{1}); });
  };
  const auto is_ok = [&](std::int64_t now_ns) {
    return machine.view(now_ns)->latest(mig, MetricId::gpu_memory_used_bytes).is_ok();
  };
  add(10 * kSecond);
  EXPECT_TRUE(is_ok(10 * kSecond + 900 * kMs));
  add(10 * kSecond + 100 * kMs);
  EXPECT_TRUE(is_ok(13 * kSecond + 100 * kMs));
  EXPECT_FALSE(is_ok(13 * kSecond + 101 * kMs));
}

TEST(View, OneLateTickDoesNotMakeALaneSlow) {
  Machine machine;
  machine.add_power(0, 10 * kSecond, 1);
  machine.add_power(0, 10 * kSecond + 100 * kMs, 1);
  machine.add_power(0, 20 * kSecond, 1);
  EXPECT_EQ(machine.view()->latest(machine.gpu(), kPower).absence, Absence::kPresent);
  EXPECT_EQ(machine.view(21 * kSecond)->latest(machine.gpu(), kPower).absence, Absence::kStale);
}

TEST(View, ConstantsAndTotalsDoNotGetStale) {
  Machine machine;
  machine.name_gpu(0, 10 * kSecond, "GPU-a", "00000000:06:00.0");
  machine.add_gpu(0, Lane::kTotals, 10 * kSecond,
                  [](Row& row) { row.set(MetricId::gpu_busy_seconds_total, 7.0); });
  const auto view = machine.view(100'000 * kSecond);
  EXPECT_EQ(view->text(machine.gpu(), MetricId::gpu_uuid), "GPU-a");
  EXPECT_EQ(view->number(machine.gpu(), MetricId::gpu_busy_seconds_total), 7);
  EXPECT_TRUE(view->latest(machine.gpu(), MetricId::gpu_uuid).is_ok());
}

TEST(View, ADeviceThatIsAwayTakesItsReadingsWithIt) {
  Machine machine;
  machine.name_gpu(0, 10 * kSecond, "GPU-a", "00000000:06:00.0");
  machine.add_power(0, 10 * kSecond, 1);
  machine.file().set_status(machine.gpu(), recorder::DeviceStatus::kTimedOut,
                            10 * kSecond + 50 * kMs);
  const auto view = machine.view(10 * kSecond + 60 * kMs);
  const Latest latest = view->latest(machine.gpu(), kPower);
  EXPECT_EQ(latest.reading.state, State::kTimedOut);
  EXPECT_EQ(latest.absence, Absence::kDevice);
  EXPECT_EQ(view->text(machine.gpu(), MetricId::gpu_uuid), "GPU-a");
  // Before that moment it was there.
  EXPECT_TRUE(machine.view(10 * kSecond)->latest(machine.gpu(), kPower).is_ok());
}

TEST(View, OldReadingsOfADeviceThatFailsAreFailedAndNotStale) {
  Machine machine;
  machine.add_power(0, 10 * kSecond, 1);
  machine.file().set_status(machine.gpu(), recorder::DeviceStatus::kFailed, 11 * kSecond);
  const Latest latest = machine.view(60 * kSecond)->latest(machine.gpu(), kPower);
  EXPECT_EQ(latest.absence, Absence::kDevice);
  EXPECT_EQ(absence_name(latest), "failed");
  EXPECT_EQ(machine.view(10'900 * kMs)->latest(machine.gpu(), kPower).absence, Absence::kStale);
}

TEST(View, RowsOfTheDeviceThatHadTheSlotBeforeAreNotShown) {
  Machine machine;
  machine.add_power(0, 10 * kSecond, 1);
  machine.file().device(machine.gpu()).rows_before.store(11 * kSecond);
  EXPECT_EQ(machine.view(10 * kSecond)->latest(machine.gpu(), kPower).absence, Absence::kNoRows);
}

TEST(View, AMetricOfAnotherScopeHasNoRing) {
  Machine machine;
  const Latest latest = machine.view()->latest(machine.gpu(), MetricId::host_memory_total_bytes);
  EXPECT_EQ(latest.absence, Absence::kNoRing);
  EXPECT_EQ(latest.reading.state, State::kNotSupported);
}

TEST(View, AWindowComesWithItsValue) {
  Machine machine;
  machine.add_gpu(0, Lane::kGpm, 10 * kSecond, [](Row& row) {
    row.window_start_ns = 9 * kSecond;
    row.window_end_ns = 10 * kSecond;
    row.set(MetricId::gpu_sm_active_ratio, 0.97);
  });
  const Latest latest = machine.view()->latest(machine.gpu(), MetricId::gpu_sm_active_ratio);
  EXPECT_EQ(latest.window_start_ns, 9 * kSecond);
  EXPECT_EQ(latest.window_end_ns, 10 * kSecond);
}

// Where the last question ended is remembered, and must not answer another one.
TEST(View, AReplayMayGoForthAndBack) {
  Machine machine;
  for (int i = 1; i <= 8; ++i)
    machine.add_power(0, i * 100 * kMs, 100.0 + i);
  std::int64_t now_ns = 0;
  const auto view = machine.view_with([&now_ns] { return now_ns; });
  const Handle handle = view->handle(machine.gpu(), MetricId::gpu_power_watts);
  for (const int tenths : {3, 3, 4, 7, 2, 2, 8, 1}) {
    now_ns = tenths * 100 * kMs + 99 * kMs;
    EXPECT_EQ(view->latest(handle).reading.f64(), 100.0 + tenths) << tenths;
    EXPECT_EQ(view->end_at(handle.ring, now_ns), static_cast<std::uint64_t>(tenths));
  }
  now_ns = 50 * kMs;
  EXPECT_EQ(view->latest(handle).absence, Absence::kNoRows);
}

TEST(View, OpenSaysWhichFileIsMissing) {
  const auto view = View::open({.recorder_path = "/nowhere/recorder"});
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().code, base::Code::kNotFound);
  EXPECT_NE(view.error().message.find("/nowhere/recorder"), std::string::npos);
}

}  // namespace
}  // namespace everywatt::view
