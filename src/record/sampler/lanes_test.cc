// SPDX-License-Identifier: Apache-2.0
//
// The lanes with windows and cursors of their own: performance counters and processes.
#include <gmock/gmock.h>

#include <set>
#include <tuple>

#include "record/sampler/lanes_fixture.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::State;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;

class GpmLaneTest : public LanesFixture {};

TEST_F(GpmLaneTest, WindowsAreOneSecondWhileNobodyNeedsMore) {
  options_.gpm_pace = GpmPace::kSlow;
  begin(device("gemm"), 1);
  step_to_ms(10'000);
  run_until_ms(20'000);
  EXPECT_EQ(row_count(slot(0), Lane::kGpm), 10u);
  const Row gpm = row(slot(0), Lane::kGpm);
  EXPECT_EQ(gpm.window_end_ns, gpm.time_ns);
  EXPECT_EQ(gpm.window_end_ns - gpm.window_start_ns, 1'000 * kMs);
  EXPECT_NEAR(value(0, MetricId::gpu_sm_active_ratio), 0.97, 0.02);
}

// The trap: samples of one refresh give zeros, and no row may be made of them.
TEST_F(GpmLaneTest, NoRowIsAWindowInWhichTheCountersStoodStill) {
  options_.gpm_pace = GpmPace::kFast;
  begin(device("gemm"), 1);
  step_to_ms(10'000);
  run_until_ms(20'000);
  const auto rows = static_cast<std::int64_t>(row_count(slot(0), Lane::kGpm));
  EXPECT_GT(rows, 80);
  EXPECT_LE(rows, 100);
  std::int64_t end_ns = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const Row gpm = row(slot(0), Lane::kGpm, i);
    EXPECT_GT(gpm.reading(MetricId::gpu_sm_active_ratio).f64(), 0.9) << i;
    EXPECT_TRUE(gpm.reading(MetricId::gpu_dram_active_ratio).is_ok());
    EXPECT_GE(gpm.window_end_ns - gpm.window_start_ns, 100 * kMs);
    EXPECT_EQ(gpm.window_start_ns, i > 0 ? end_ns : gpm.window_start_ns) << "no gap";
    end_ns = gpm.window_end_ns;
  }
  EXPECT_EQ(row_count(slot(0), Lane::kTotals) > 0, true);
  std::uint64_t observed = 0;
  for (unsigned band = 0; band < 13; ++band) {
    observed +=
        static_cast<std::uint64_t>(value(0, MetricId::gpu_sm_active_sampled_ratio_bucket, band));
  }
  EXPECT_EQ(observed, static_cast<std::uint64_t>(rows)) << "a window is one observation";
}

TEST_F(GpmLaneTest, TrulyIdleGpuIsZeroAndNotAbsent) {
  begin(device("idle_holder"), 1);
  step_to_ms(12'000);
  run_until_ms(16'000);
  EXPECT_EQ(value(0, MetricId::gpu_sm_active_ratio), 0);
  EXPECT_EQ(value(0, MetricId::gpu_dram_active_ratio), 0);
}

TEST_F(GpmLaneTest, BusyProcessMakesItFastAndALeaseToo) {
  begin(device("gemm") + device("idle_holder"), 2);
  step_to_ms(10'000);
  run_until_ms(25'000);
  const std::uint64_t busy = row_count(slot(0), Lane::kGpm);
  const std::uint64_t idle = row_count(slot(1), Lane::kGpm);
  EXPECT_GT(busy, 50u);
  EXPECT_LE(idle, 16u);
  gpus_[1]->lanes().policy().lease(now_ns() + 5'000 * kMs);
  run_until_ms(27'000);
  EXPECT_GE(row_count(slot(1), Lane::kGpm), idle + 15);
}

TEST_F(GpmLaneTest, WithoutAllowanceItStaysSlow) {
  options_.gpm_cpu_ratio = 0;
  begin(device("gemm"), 1);
  step_to_ms(10'000);
  run_until_ms(25'000);
  EXPECT_LE(row_count(slot(0), Lane::kGpm), 16u);
}

// Issue P004: counters that are dead while the GPU works.
TEST_F(GpmLaneTest, DeadCountersAreFailedNotZero) {
  options_.gpm_pace = GpmPace::kFast;
  begin(device("idle_holder") + "[[override]]\nreading = \"util_gpu\"\nvalue = 100\n", 1);
  step_to_ms(12'000);
  run_until_ms(14'000);
  const std::uint64_t before = row_count(slot(0), Lane::kGpm);
  EXPECT_LE(before, 2u) << "zeros beside a busy GPU are no values";
  run_until_ms(20'000);
  EXPECT_EQ(latest(0, MetricId::gpu_sm_active_ratio).state, State::kFailed);
  const std::uint64_t opened = playhead().calls("nvmlGpmSampleAlloc");
  run_until_ms(50'000);
  EXPECT_EQ(playhead().calls("nvmlGpmSampleAlloc"), opened + 2) << "taken up anew each 30 s";
  EXPECT_EQ(latest(0, MetricId::gpu_sm_active_ratio).state, State::kFailed);
}

TEST_F(GpmLaneTest, RefusedCountersSayWhy) {
  begin(device("gemm") + "[[fault]]\nfunction = \"nvmlGpmSampleGet\"\nreturn = \"NO_PERMISSION\"\n",
        1);
  run_until_ms(2'000);
  EXPECT_EQ(latest(0, MetricId::gpu_sm_active_ratio).state, State::kNoPermission);
}

using LinkRateTest = LanesFixture;

TEST_F(LinkRateTest, TrafficOfAllLinksIsARateSinceTheReadingBefore) {
  begin(device("gemm") +
            "[[nvlink]]\ngpu = 0\nstate = \"up\"\nremote = \"switch:0\"\n"
            "bytes_per_second = 1048576\nreceive_bytes_per_second = 2048\n",
        1);
  run_until_ms(5'000);
  EXPECT_EQ(latest(0, MetricId::gpu_nvlink_bytes_per_second).state, State::kNoNewValue);
  run_until_ms(21'000);
  EXPECT_NEAR(value(0, MetricId::gpu_nvlink_bytes_per_second), 18 * (1048576 + 2048), 2048);
}

// A link that says nothing for a while comes back with all that it has carried.
TEST_F(LinkRateTest, LinkThatComesBackIsNoBurst) {
  begin(device("gemm") +
            "[[nvlink]]\ngpu = 0\nstate = \"up\"\nbytes_per_second = 1048576\n"
            "[[nvlink]]\ngpu = 0\nlink = 5\nstate = \"unknown\"\nfrom_ms = 15000\n"
            "until_ms = 35000\n",
        1);
  for (double ms = 21'000; ms < 62'000; ms += 10'000) {
    run_until_ms(ms);
    const catalog::Reading rate = latest(0, MetricId::gpu_nvlink_bytes_per_second);
    if (rate.is_ok()) {
      EXPECT_LT(rate.f64(), 36.1 * 1048576) << ms;
    }
  }
  EXPECT_GT(value(0, MetricId::gpu_nvlink_bytes_per_second), 35.9 * 1048576);
}

class ProcessLaneTest : public LanesFixture {
 protected:
  // (pid, sm ratio or -1) of the rows of the newest listing.
  std::vector<std::pair<std::uint64_t, double>> listing() {
    std::vector<std::pair<std::uint64_t, double>> processes;
    const Row last = row(slot(0), Lane::kProcess);
    const auto count = static_cast<std::int64_t>(last.reading(MetricId::process_count).u64());
    for (std::int64_t i = -count; i < 0; ++i) {
      const Row process = row(slot(0), Lane::kProcess, i);
      EXPECT_EQ(process.time_ns, last.time_ns);
      const catalog::Reading sm = process.reading(MetricId::process_sm_ratio);
      processes.emplace_back(process.reading(MetricId::process_pid).u64(),
                             sm.is_ok() ? sm.f64() : -1);
    }
    return processes;
  }
};

constexpr const char* kTwoMore =
    "[[process]]\npid = 501\nmemory_bytes = 1000000\nsm_percent = 20\n"
    "[[process]]\npid = 502\nkind = \"graphics\"\nmemory_bytes = 18446744073709551615\n";

TEST_F(ProcessLaneTest, EachListingIsRowsOfOneTime) {
  begin(device("gemm") + kTwoMore, 1);
  step_to_ms(20'000);
  run_until_ms(20'000);
  EXPECT_THAT(listing(),
              ElementsAre(std::pair{501ul, 0.2}, std::pair{502ul, -1.0}, std::pair{10000ul, 0.99}));
  EXPECT_EQ(row(slot(0), Lane::kProcess).state(MetricId::process_identity), State::kNotRead);
}

// Issue P013: a driver that cannot tell a process's memory.
TEST_F(ProcessLaneTest, UnknownMemoryIsAbsent) {
  begin(device("gemm") + kTwoMore, 1);
  run_until_ms(1'000);
  const auto count = static_cast<std::int64_t>(row_count(slot(0), Lane::kProcess));
  bool is_found = false;
  for (std::int64_t i = 0; i < count; ++i) {
    const Row process = row(slot(0), Lane::kProcess, i);
    if (process.reading(MetricId::process_pid).u64() != 502) continue;
    is_found = true;
    EXPECT_EQ(process.state(MetricId::process_memory_bytes), State::kNotSupported);
    EXPECT_EQ(process.reading(MetricId::process_type_mask).u64(), nvml::kGraphicsBit);
  }
  EXPECT_TRUE(is_found);
}

// Issue P025: the driver's samples are drained each 5 s and stand in one listing.
TEST_F(ProcessLaneTest, UtilizationStandsInOneListingADrain) {
  begin(device("gemm"), 1);
  step_to_ms(20'000);
  run_until_ms(32'000);
  unsigned with_sample = 0;
  const auto count = static_cast<std::int64_t>(row_count(slot(0), Lane::kProcess));
  std::int64_t last_sample_ns = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Row process = row(slot(0), Lane::kProcess, i);
    const catalog::Reading time = process.reading(MetricId::process_sample_time_ns);
    if (!time.is_ok()) continue;
    ++with_sample;
    EXPECT_GT(time.i64(), last_sample_ns) << "no sample twice";
    EXPECT_LE(time.i64(), process.time_ns);
    last_sample_ns = time.i64();
  }
  EXPECT_EQ(with_sample, 3u);
  EXPECT_EQ(playhead().calls("nvmlDeviceGetProcessUtilization"), 4u) << "once more for the room";
}

// Issue P003: slots that the driver did not fill hold rubbish.
TEST_F(ProcessLaneTest, UnfilledSlotsAreNoProcesses) {
  begin(device("gemm", "reports_buffer_size = true\n") + kTwoMore, 1);
  step_to_ms(20'000);
  run_until_ms(26'000);
  EXPECT_EQ(listing().size(), 3u);
  EXPECT_EQ(value(0, MetricId::gpu_rejected_readings_total), 0);
}

TEST_F(ProcessLaneTest, PidThatNobodyHasIsLeftOutAndCounted) {
  begin(device("gemm") + kTwoMore + "[[process]]\npid = 4194305\nmemory_bytes = 1000\n", 1);
  step_to_ms(20'000);
  run_until_ms(20'000);
  EXPECT_THAT(listing(),
              ElementsAre(std::pair{501ul, 0.2}, std::pair{502ul, -1.0}, std::pair{10000ul, 0.99}));
  EXPECT_EQ(value(0, MetricId::gpu_rejected_readings_total), 1);
}

TEST_F(ProcessLaneTest, ListingOfNoneButSuchIsInvalidAndNotEmpty) {
  begin(device("gemm") +
            "[[fault]]\nfunction = \"nvmlDeviceGetComputeRunningProcesses_v3\"\n"
            "garbage = \"ones\"\n",
        1);
  run_until_ms(1'000);
  EXPECT_EQ(latest(0, MetricId::process_count).state, State::kInvalid);
  EXPECT_EQ(latest(0, MetricId::process_pid).state, State::kInvalid);
}

// Issue P068: lists that grow between two calls.
TEST_F(ProcessLaneTest, GrowingListIsAskedForAgain) {
  begin(device("gemm", "growing_lists = 3\n"), 1);
  step_to_ms(20'000);
  run_until_ms(20'000);
  EXPECT_EQ(listing().size(), 1u);
}

TEST_F(ProcessLaneTest, ListThatNeverFitsEndsInAState) {
  begin(device("gemm", "growing_lists = 1000000\n"), 1);
  run_until_ms(1'000);
  EXPECT_EQ(latest(0, MetricId::process_pid).state, State::kFailed);
  EXPECT_LT(playhead().calls("nvmlDeviceGetComputeRunningProcesses_v3"), 20u);
  EXPECT_TRUE(latest(0, MetricId::gpu_utilization_ratio).is_ok());
}

TEST_F(ProcessLaneTest, NobodyIsARowWithCountZero) {
  begin(device("gemm"), 1);
  // Before the load of this trace begins.
  options_.periods = {};
  stop();
  play(device("gemm", "start_ms = 0\nloop_begin_ms = 0\nloop_end_ms = 3000\n"));
  restart(1);
  run_until_ms(500);
  EXPECT_EQ(row(slot(0), Lane::kProcess).reading(MetricId::process_count).u64(), 0u);
  EXPECT_EQ(row(slot(0), Lane::kProcess).state(MetricId::process_pid), State::kNotRead);
}

TEST_F(ProcessLaneTest, HeldButIdleTimeIsSummed) {
  begin(device("idle_holder"), 1);
  step_to_ms(12'000);
  run_until_ms(16'000);
  EXPECT_NEAR(value(0, MetricId::gpu_held_idle_seconds_total), 4, 0.3);
  EXPECT_EQ(value(0, MetricId::gpu_busy_seconds_total), 0);
}

}  // namespace
}  // namespace everywatt::sampler
