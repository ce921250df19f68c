// SPDX-License-Identifier: Apache-2.0
#include "read/view/reasons.h"

#include <gtest/gtest.h>

#include "read/view/view_fixture.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::Lang;
using catalog::MetricId;
using catalog::Row;
using catalog::State;
using ::testing::Test;

std::string why_text(const View& view, MetricId id, const ReasonOptions& options = {}) {
  return why(view, gpus(view).front(), id, options).text;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr auto kPower = MetricId::gpu_power_watts;

TEST(Why, AValueIsToldWithItsAge) {
  Machine machine;
  machine.add_power(0, 10 * kSecond, 1);
  const auto view = machine.view(10 * kSecond + 40 * kMs);
  EXPECT_EQ(why_text(*view, kPower), "It has a value, read 40 ms ago.");
  EXPECT_EQ(why_text(*view, kPower, {.language = Lang::kZh}), "有数值，40 毫秒前读取。");
}

TEST(Why, AStateIsExplainedInBothLanguages) {
  Machine machine;
  machine.add_gpu(0, Lane::kGauge, 10 * kSecond,
                  [](Row& row) { row.set_absent(kPower, State::kNoPermission); });
  const auto view = machine.view();
  EXPECT_TRUE(
      has(why_text(*view, kPower), catalog::state_sentence(State::kNoPermission, Lang::kEn)));
  EXPECT_TRUE(has(why_text(*view, kPower, {.language = Lang::kZh}),
                  catalog::state_sentence(State::kNoPermission, Lang::kZh)));
}

TEST(Why, WithoutGpmItNamesTheGpuAndWhatItTakes) {
  Machine machine;
  machine.add_gpu(0, Lane::kOnce, 10 * kSecond, [](Row& row) {
    row.set_text(MetricId::gpu_name, "NVIDIA A100");
    row.set(MetricId::gpu_gpm_supported, std::uint64_t{0});
  });
  machine.add_gpu(0, Lane::kGpm, 10 * kSecond,
                  [](Row& row) { row.set_all_absent(State::kNotSupported); });
  const std::string text = why_text(*machine.view(), MetricId::gpu_sm_active_ratio);
  EXPECT_TRUE(has(text, "NVIDIA A100 has no performance counters for this (GPM)")) << text;
}

TEST(Why, ARejectedReadingIsCounted) {
  Machine machine;
  machine.add_gpu(0, Lane::kTotals, 10 * kSecond, [](Row& row) {
    row.set(MetricId::gpu_rejected_readings_total, std::uint64_t{12});
  });
  machine.add_gpu(0, Lane::kGauge, 10 * kSecond,
                  [](Row& row) { row.set_absent(kPower, State::kInvalid); });
  EXPECT_TRUE(has(why_text(*machine.view(), kPower), "12 readings of this GPU were rejected"));
}

TEST(Why, AHangNamesTheCallAndHowLongItRuns) {
  Machine machine;
  machine.add_power(0, 10 * kSecond, 1);
  machine.file().set_status(machine.gpu(), recorder::DeviceStatus::kTimedOut, 12 * kSecond);
  machine.file().device(machine.gpu()).call_since_ns.store(10 * kSecond);
  machine.file().device(machine.gpu()).call.store(5);
  const auto view = machine.view(20 * kSecond);
  EXPECT_EQ(why_text(*view, kPower),
            "GPU 0 is timed out: a driver call does not return, since 8.0 s ago. The driver call "
            "number 5 has been running for 10.0 s.");
  EXPECT_TRUE(has(why_text(*view, kPower,
                           {.call_name = [](std::uint64_t) { return "nvmlDeviceGetPowerUsage"; }}),
                  "nvmlDeviceGetPowerUsage"));
}

TEST(Why, SilenceIsBlamedOnThePartThatIsSilent) {
  Machine machine;
  for (int i = 0; i < 5; ++i)
    machine.add_power(0, 10 * kSecond + i * 100 * kMs, 1);
  machine.file().part(recorder::Part::kSampler).heartbeat_ns.store(10 * kSecond);
  const std::string text = why_text(*machine.view(20 * kSecond), kPower);
  EXPECT_TRUE(has(text, "It is stale")) << text;
  EXPECT_TRUE(has(text, "9.6 s old; one comes each 100 ms")) << text;
  EXPECT_TRUE(has(text, "The sampler has shown no sign of life for 10.0 s.")) << text;
}

TEST(Why, WhatNeverCameSaysWhoDidNotRun) {
  Machine machine;
  EXPECT_EQ(why_text(*machine.view(kSecond), kPower),
            "Nothing was recorded of it yet. The sampler has not run yet.");
}

TEST(Why, AMetricOfTheMachineIsNotTheGpus) {
  Machine machine;
  EXPECT_TRUE(has(why_text(*machine.view(kSecond), MetricId::host_load1),
                  "Nothing of this kind is recorded"));
}

TEST(DurationText, UsesTheUnitThatSuits) {
  EXPECT_EQ(duration_text(40 * kMs, Lang::kEn), "40 ms");
  EXPECT_EQ(duration_text(999'499'999, Lang::kEn), "999 ms");
  EXPECT_EQ(duration_text(999'500'000, Lang::kEn), "1.0 s");
  EXPECT_EQ(duration_text(4'200 * kMs, Lang::kEn), "4.2 s");
  EXPECT_EQ(duration_text(180 * kSecond, Lang::kEn), "3 min");
  EXPECT_EQ(duration_text(9000 * kSecond, Lang::kZh), "2.5 小时");
}

TEST(StatusText, IsThereInBothLanguages) {
  EXPECT_EQ(status_text(DeviceStatus::kOk, Lang::kEn), "ok");
  EXPECT_EQ(status_text(DeviceStatus::kLost, Lang::kZh), "已丢失：从总线上消失");
  EXPECT_EQ(status_text(static_cast<DeviceStatus>(77), Lang::kEn), "unknown");
}

}  // namespace
}  // namespace everywatt::view
