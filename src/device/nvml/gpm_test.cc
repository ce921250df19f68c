// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/gpm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "device/nvml/fake_driver.h"

namespace everywatt::nvml {
namespace {

using abi::GpmMetric;
using abi::GpmMetricsGet;
using abi::GpmSample;
using abi::Return;
using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

// What the driver says of each metric; those that it does not name are not supported.
std::map<unsigned, double> answers;
std::map<unsigned, Return> refusals;
unsigned asked = 0;
int samples_alive = 0;
Return sample_code = Return::kSuccess;

Return give_metrics(GpmMetricsGet* request) {
  asked = request->num_metrics;
  for (unsigned i = 0; i < request->num_metrics; ++i) {
    GpmMetric& metric = request->metrics[i];
    const auto refusal = refusals.find(metric.metric_id);
    const auto answer = answers.find(metric.metric_id);
    metric.nvml_return = Return::kNotSupported;
    if (refusal != refusals.end()) metric.nvml_return = refusal->second;
    if (refusal != refusals.end() || answer == answers.end()) continue;
    metric.nvml_return = Return::kSuccess;
    metric.value = answer->second;
  }
  return Return::kSuccess;
}

class GpmTest : public testing::Test {
 protected:
  GpmTest() {
    answers = {{abi::gpm::kSmUtil, 97.5}, {abi::gpm::kDramBandwidthUtil, 40}};
    refusals.clear();
    samples_alive = 0;
    sample_code = Return::kSuccess;
    driver_.set(
        "nvmlGpmQueryDeviceSupport", +[](abi::Device, abi::GpmSupport* support) {
          support->is_supported_device = 1;
          return Return::kSuccess;
        });
    driver_.set(
        "nvmlGpmSampleAlloc", +[](GpmSample* sample) {
          *sample = reinterpret_cast<GpmSample>(std::uintptr_t{10} + unsigned(++samples_alive));
          return Return::kSuccess;
        });
    driver_.set(
        "nvmlGpmSampleFree", +[](GpmSample) {
          --samples_alive;
          return Return::kSuccess;
        });
    driver_.set("nvmlGpmSampleGet", +[](abi::Device, GpmSample) { return sample_code; });
    driver_.set("nvmlGpmMetricsGet", give_metrics);
  }
  Answer<Gpm> open() {
    library_ = driver_.open();
    device_.emplace(*Device::open_nth(*library_, 0, {.tally = &tally_}));
    return Gpm::open(*device_);
  }
  // A row of the window from 100 ns to 200 ns.
  State form(Gpm& gpm, Elsewhere elsewhere = Elsewhere::kUnknown) {
    EXPECT_EQ(gpm.take(100), State::kOk);
    EXPECT_EQ(gpm.take(200), State::kOk);
    return gpm.form(row_, elsewhere);
  }

  FakeDriver driver_;
  CallTally tally_;
  std::unique_ptr<Library> library_;
  std::optional<Device> device_;
  Row row_{Scope::kGpu, Lane::kGpm};
};

TEST_F(GpmTest, AValueStandsForTheWindowBetweenTwoSamples) {
  Gpm gpm = *open();
  EXPECT_EQ(gpm.form(row_, Elsewhere::kUnknown), State::kNoNewValue) << "no window yet";
  ASSERT_EQ(form(gpm), State::kOk);
  EXPECT_EQ(row_.reading(MetricId::gpu_sm_active_ratio).f64(), 0.975);
  EXPECT_EQ(row_.reading(MetricId::gpu_dram_active_ratio).f64(), 0.4);
  EXPECT_EQ(row_.time_ns, 200);
  EXPECT_EQ(row_.window_start_ns, 100);
  EXPECT_EQ(row_.window_end_ns, 200);
  EXPECT_EQ(gpm.window_start_ns(), 200) << "the next one begins where it ended";
  EXPECT_EQ(gpm.window_end_ns(), 0);
}

TEST_F(GpmTest, AWindowWithoutMovementGrows) {
  Gpm gpm = *open();
  answers = {{abi::gpm::kSmUtil, 0}, {abi::gpm::kDramBandwidthUtil, std::nan("")}};
  EXPECT_EQ(form(gpm), State::kNoNewValue);
  EXPECT_EQ(row_.state(MetricId::gpu_sm_active_ratio), State::kNotRead) << "the row is untouched";
  EXPECT_EQ(gpm.window_start_ns(), 100);
  answers = {{abi::gpm::kSmUtil, 50}, {abi::gpm::kDramBandwidthUtil, 1}};
  EXPECT_EQ(gpm.take(300), State::kOk);
  ASSERT_EQ(gpm.form(row_, Elsewhere::kUnknown), State::kOk);
  EXPECT_EQ(row_.window_start_ns, 100);
  EXPECT_EQ(row_.window_end_ns, 300);
}

TEST_F(GpmTest, ANanBesideAnAnswerForDramIsThatMetricsOwn) {
  Gpm gpm = *open();
  answers[abi::gpm::kFp64Util] = std::nan("");
  ASSERT_EQ(form(gpm), State::kOk);
  EXPECT_EQ(row_.reading(MetricId::gpu_sm_active_ratio).f64(), 0.975);
  EXPECT_EQ(row_.state(MetricId::gpu_fp64_active_ratio), State::kInvalid);
  EXPECT_EQ(tally_.rejected, 1u);
}

TEST_F(GpmTest, WithoutDramAnyNanIsAWindowWithoutMovement) {
  Gpm gpm = *open();
  answers = {{abi::gpm::kSmUtil, 0}, {abi::gpm::kFp64Util, std::nan("")}};
  EXPECT_EQ(form(gpm), State::kNoNewValue);
}

// Issue P004: zeros while the GPU is busy by another account.
TEST_F(GpmTest, DeadCountersOfABusyGpuAreNoValues) {
  Gpm gpm = *open();
  answers = {{abi::gpm::kSmUtil, 0.01}, {abi::gpm::kDramBandwidthUtil, 0}};
  EXPECT_EQ(form(gpm, Elsewhere::kBusy), State::kNoNewValue);
  EXPECT_EQ(gpm.form(row_, Elsewhere::kIdle), State::kOk);
}

TEST_F(GpmTest, WhatIsRefusedIsNotAskedForAgainButWhatFailedIs) {
  Gpm gpm = *open();
  refusals = {{abi::gpm::kFp32Util, Return::kUnknown}};
  ASSERT_EQ(form(gpm), State::kOk);
  EXPECT_EQ(row_.state(MetricId::gpu_fp32_active_ratio), State::kFailed);
  EXPECT_EQ(row_.state(MetricId::gpu_fp64_active_ratio), State::kNotSupported);
  refusals.clear();
  answers[abi::gpm::kFp32Util] = 12;
  row_.clear();
  EXPECT_EQ(gpm.take(300), State::kOk);
  ASSERT_EQ(gpm.form(row_, Elsewhere::kUnknown), State::kOk);
  EXPECT_EQ(asked, 3u) << "the two that are told and the one that failed";
  EXPECT_EQ(row_.reading(MetricId::gpu_fp32_active_ratio).f64(), 0.12);
  EXPECT_EQ(row_.state(MetricId::gpu_fp64_active_ratio), State::kNotSupported);
}

TEST_F(GpmTest, AShareAboveAllIsRejected) {
  Gpm gpm = *open();
  answers[abi::gpm::kSmUtil] = 4'000;
  ASSERT_EQ(form(gpm), State::kOk);
  EXPECT_EQ(row_.state(MetricId::gpu_sm_active_ratio), State::kInvalid);
}

TEST_F(GpmTest, ASampleThatFailedClosesNoWindow) {
  Gpm gpm = *open();
  EXPECT_EQ(gpm.take(100), State::kOk);
  EXPECT_EQ(gpm.take(200), State::kOk);
  sample_code = Return::kGpuIsLost;
  EXPECT_EQ(gpm.take(300), State::kLost);
  EXPECT_EQ(gpm.form(row_, Elsewhere::kUnknown), State::kNoNewValue);
  EXPECT_EQ(gpm.window_start_ns(), 100);
}

TEST_F(GpmTest, SamplesAreFreedOnceAlsoAfterMoves) {
  {
    Gpm first = *open();
    Gpm second(std::move(first));
    first = std::move(second);
    EXPECT_EQ(samples_alive, 2);
  }
  EXPECT_EQ(samples_alive, 0);
}

TEST_F(GpmTest, ADriverWithoutItSaysSo) {
  driver_.set(
      "nvmlGpmQueryDeviceSupport", +[](abi::Device, abi::GpmSupport* support) {
        support->is_supported_device = 0;
        return Return::kSuccess;
      });
  EXPECT_EQ(open().error(), State::kNotSupported);
  driver_.remove("nvmlGpmQueryDeviceSupport");
  EXPECT_EQ(open().error(), State::kNotSupported);
}

}  // namespace
}  // namespace everywatt::nvml
