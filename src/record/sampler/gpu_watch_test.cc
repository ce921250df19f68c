// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/gpu_watch.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "record/sampler/lanes_fixture.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::State;
using recorder::DeviceStatus;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class GpuWatchTest : public LanesFixture {};

TEST_F(GpuWatchTest, LanesHaveTheirCadence) {
  begin(device("gemm"), 1);
  step_to_ms(10'050);
  run_until_ms(20'050);
  // One at once, and then on the grid of 100 ms; the last of 10 s at 20.0 s.
  EXPECT_EQ(row_count(slot(0), Lane::kGauge), 101u);
  EXPECT_EQ(row_count(slot(0), Lane::kTotals), 11u);
  EXPECT_EQ(row_count(slot(0), Lane::kProcess), 11u);
  EXPECT_EQ(row_count(slot(0), Lane::kSlow), 2u);
  EXPECT_EQ(row_count(slot(0), Lane::kOnce), 1u);
  EXPECT_EQ(row_count(slot(0), Lane::kFaults), 1u);
}

TEST_F(GpuWatchTest, ValuesAreThoseOfTheTrace) {
  begin(device("gemm"), 1);
  step_to_ms(20'000);
  run_until_ms(20'000);
  EXPECT_EQ(value(0, MetricId::gpu_utilization_ratio), 0.99);
  EXPECT_EQ(value(0, MetricId::gpu_memory_used_bytes), 2804744192);
  EXPECT_EQ(value(0, MetricId::gpu_memory_reserved_bytes), 644939776);
  EXPECT_EQ(value(0, MetricId::gpu_power_watts), 694.263);
  EXPECT_EQ(value(0, MetricId::gpu_power_instant_watts), 709.056);
  EXPECT_EQ(value(0, MetricId::gpu_sm_clock_hertz), 1410e6);
  EXPECT_EQ(value(0, MetricId::gpu_clock_event_reasons_mask), 4);
  EXPECT_EQ(value(0, MetricId::gpu_power_limit_max_watts), 700);
  EXPECT_EQ(row(slot(0), Lane::kOnce).text(MetricId::gpu_name), "NVIDIA H200");
  EXPECT_EQ(status_of(0), DeviceStatus::kOk);
}

TEST_F(GpuWatchTest, ColumnsAreReadOnlyWhenTheirSourceMayHaveRefreshed) {
  begin(device("gemm"), 1);
  run_until_ms(1'000);
  std::vector<State> states;
  for (int i = 0; i < 6; ++i) {
    states.push_back(row(slot(0), Lane::kGauge, i).state(MetricId::gpu_utilization_ratio));
  }
  EXPECT_THAT(states, ElementsAre(State::kOk, State::kNotRead, State::kOk, State::kNotRead,
                                  State::kOk, State::kNotRead));
  EXPECT_EQ(playhead().calls("nvmlDeviceGetUtilizationRates"), 6u);
  EXPECT_EQ(playhead().calls("nvmlDeviceGetEncoderUtilization"), 2u);
}

TEST_F(GpuWatchTest, PowerBufferIsRecordedOnceASample) {
  begin(device("gemm"), 1);
  step_to_ms(10'000);
  run_until_ms(15'000);
  std::set<std::int64_t> times;
  std::int64_t last_ns = 0;
  const auto rows = static_cast<std::int64_t>(row_count(slot(0), Lane::kPower));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t time_ns = row(slot(0), Lane::kPower, i).time_ns;
    EXPECT_GT(time_ns, last_ns);
    last_ns = time_ns;
    times.insert(time_ns);
  }
  // 119 at once, which is what the buffer holds, and 5 s of 20.7 ms.
  EXPECT_EQ(times.size(), 119u + 241u);
  EXPECT_LE(now_ns() - last_ns, 21 * kMs);
}

TEST_F(GpuWatchTest, WallClockSteppedBackCostsNoPowerSamples) {
  begin(device("gemm"), 1);
  step_to_ms(10'000);
  run_until_ms(12'000);
  const std::uint64_t before = row_count(slot(0), Lane::kPower);
  step_wall_clock(-3'600'000 * kMs);
  run_until_ms(14'000);
  const std::uint64_t after = row_count(slot(0), Lane::kPower);
  EXPECT_NEAR(static_cast<double>(after - before), 2'000 / 20.7, 1);
}

TEST_F(GpuWatchTest, LostGpuIsSaidSoAndComesBackWithANewGeneration) {
  begin(device("gemm") + device("fed") +
            "[[fault]]\nfunction = \"*\"\ngpu = 1\nreturn = \"GPU_IS_LOST\"\nfrom_ms = 3000\n"
            "until_ms = 5000\n",
        2);
  run_until_ms(2'900);
  const std::uint64_t generation = reader_->device(slot(1)).generation;
  run_until_ms(4'000);
  EXPECT_EQ(status_of(1), DeviceStatus::kLost);
  EXPECT_EQ(latest(1, MetricId::gpu_utilization_ratio).state, State::kLost);
  EXPECT_EQ(status_of(0), DeviceStatus::kOk);
  run_until_ms(8'000);
  EXPECT_EQ(status_of(1), DeviceStatus::kOk);
  EXPECT_EQ(reader_->device(slot(1)).generation, generation + 1);
  EXPECT_TRUE(latest(1, MetricId::gpu_utilization_ratio).is_ok());
  EXPECT_EQ(row_count(slot(0), Lane::kGauge), 81u);
  EXPECT_THAT(event_lines(), ElementsAre("gpu_lost 0 the GPU is gone from the bus",
                                         "gpu_back 0 the GPU can be read again"));
}

// Issue P090: what needs a reset is that GPU's own trouble.
TEST_F(GpuWatchTest, GpuThatNeedsAResetFailsAlone) {
  begin(device("gemm") + device("fed") +
            "[[fault]]\nfunction = \"*\"\ngpu = 1\nreturn = \"RESET_REQUIRED\"\nfrom_ms = 1000\n",
        2);
  run_until_ms(5'000);
  EXPECT_EQ(latest(1, MetricId::gpu_power_watts).state, State::kFailed);
  EXPECT_FALSE(gpus_[1]->is_driver_gone());
  EXPECT_EQ(status_of(0), DeviceStatus::kOk);
  EXPECT_EQ(row_count(slot(0), Lane::kGauge), 51u);
}

TEST_F(GpuWatchTest, DriverThatWasShutIsToBeOpenedAnew) {
  begin(
      device("gemm") + "[[fault]]\nfunction = \"*\"\nreturn = \"UNINITIALIZED\"\nfrom_ms = 1000\n",
      1);
  run_until_ms(900);
  EXPECT_FALSE(gpus_[0]->is_driver_gone());
  run_until_ms(1'000);
  EXPECT_TRUE(gpus_[0]->is_driver_gone());
}

TEST_F(GpuWatchTest, GpuThatIsLostForGoodIsAskedForLessAndLess) {
  begin(device("gemm") + "[[fault]]\nfunction = \"*\"\nreturn = \"GPU_IS_LOST\"\n", 1);
  run_until_ms(130'000);
  // At 0, 2, 6, 14, 30, 62 and 122 s.
  EXPECT_EQ(playhead().calls("nvmlDeviceGetHandleByPciBusId_v2"), 7u);
  EXPECT_EQ(playhead().calls("nvmlDeviceGetUUID"), 0u);
  EXPECT_THAT(event_lines(), ElementsAre("gpu_lost 0 the GPU is gone from the bus"));
}

TEST_F(GpuWatchTest, SuspendedGpuIsNotTouched) {
  play(device("gemm"));
  const std::string root = folder() + "/root";
  const std::string power = root + "/sys/bus/pci/devices/" + address(0) + "/power";
  std::filesystem::create_directories(power);
  std::ofstream(power + "/runtime_status") << "suspended\n";
  options_.host_root = root;
  begin(device("gemm"), 1);
  std::filesystem::create_directories(power);
  std::ofstream(power + "/runtime_status") << "suspended\n";
  run_until_ms(5'000);
  EXPECT_EQ(status_of(0), DeviceStatus::kSuspended);
  EXPECT_EQ(playhead().calls("nvmlDeviceGetHandleByPciBusId_v2"), 0u);
  EXPECT_EQ(row_count(slot(0), Lane::kGauge), 0u);
  std::ofstream(power + "/runtime_status") << "active\n";
  run_until_ms(7'000);
  EXPECT_EQ(status_of(0), DeviceStatus::kOk);
  EXPECT_GT(row_count(slot(0), Lane::kGauge), 0u);
}

// The blocking PCIe call has a thread of its own, which must not wake the GPU either.
TEST_F(GpuWatchTest, SuspendedGpuWantsNoPcieCall) {
  play(device("gemm"));
  const std::string root = folder() + "/root";
  options_.host_root = root;
  begin(device("gemm", "profile = \"a100\"\n"), 1);
  run_until_ms(1'000);
  EXPECT_TRUE(gpus_[0]->wants_pcie());
  const std::string power = root + "/sys/bus/pci/devices/" + address(0) + "/power";
  std::filesystem::create_directories(power);
  std::ofstream(power + "/runtime_status") << "suspended\n";
  run_until_ms(12'000);
  EXPECT_EQ(status_of(0), DeviceStatus::kSuspended);
  EXPECT_FALSE(gpus_[0]->wants_pcie());
}

TEST_F(GpuWatchTest, GpuWithoutPerformanceCountersSaysSo) {
  begin(device("gemm", "profile = \"a100\"\n"), 1);
  run_until_ms(3'000);
  EXPECT_EQ(latest(0, MetricId::gpu_sm_active_ratio).state, State::kNotSupported);
  EXPECT_EQ(value(0, MetricId::gpu_gpm_supported), 0);
  EXPECT_TRUE(gpus_[0]->wants_pcie());
  EXPECT_TRUE(latest(0, MetricId::gpu_utilization_ratio).is_ok());
}

TEST_F(GpuWatchTest, SentinelsAreInvalidAndCounted) {
  begin(device("gemm") +
            "[[override]]\nreading = \"util_gpu\"\nvalue = 4294967295\n"
            "from_ms = 1000\nuntil_ms = 1200\n"
            "[[override]]\nreading = \"util_gpu\"\nvalue = 1200\n"
            "from_ms = 1400\nuntil_ms = 1600\n",
        1);
  run_until_ms(3'000);
  std::vector<State> states;
  for (int i = 8; i <= 16; i += 2) {
    states.push_back(row(slot(0), Lane::kGauge, i).state(MetricId::gpu_utilization_ratio));
  }
  EXPECT_THAT(states,
              ElementsAre(State::kOk, State::kInvalid, State::kOk, State::kInvalid, State::kOk));
  EXPECT_EQ(value(0, MetricId::gpu_rejected_readings_total), 2);
}

TEST_F(GpuWatchTest, XidIsCountedByCodeAndTold) {
  begin(device("gemm"), 1);
  run_until_ms(500);
  EXPECT_EQ(value(0, MetricId::gpu_xid_errors_total, 31), 0);
  const nvml::Event xid{.type = nvml::EventType::kXid, .number = 31};
  gpus_[0]->on_event(xid);
  gpus_[0]->on_event(xid);
  EXPECT_EQ(value(0, MetricId::gpu_xid_errors_total, 31), 2);
  EXPECT_EQ(value(0, MetricId::gpu_last_xid), 31);
  EXPECT_THAT(event_lines(), ElementsAre("xid 31 XID 31", "xid 31 XID 31"));
  // The totals follow with the next tick, not with the next second.
  const std::uint64_t totals = row_count(slot(0), Lane::kTotals);
  run_until_ms(600);
  EXPECT_EQ(row_count(slot(0), Lane::kTotals), totals + 1);
}

TEST_F(GpuWatchTest, TotalsAndXidsGoOnAfterARestart) {
  begin(device("gemm"), 1);
  run_until_ms(10'000);
  gpus_[0]->on_event({.type = nvml::EventType::kXid, .number = 48});
  const double observed = value(0, MetricId::gpu_observed_seconds_total);
  const double energy = value(0, MetricId::gpu_energy_accumulated_joules_total);
  EXPECT_NEAR(observed, 10, 0.2);
  restart(1);
  run_until_ms(20'100);
  EXPECT_NEAR(value(0, MetricId::gpu_observed_seconds_total), observed + 10, 0.3);
  EXPECT_GT(value(0, MetricId::gpu_energy_accumulated_joules_total), energy);
  EXPECT_EQ(value(0, MetricId::gpu_xid_errors_total, 48), 1);
  EXPECT_THAT(event_lines(), Not(Contains(HasSubstr("coverage"))));
}

TEST_F(GpuWatchTest, GapOfTheSamplerIsAnEvent) {
  begin(device("gemm"), 1);
  run_until_ms(2'000);
  step_to_ms(32'000);
  restart(1);
  run_until_ms(33'000);
  EXPECT_THAT(event_lines(), Contains("coverage_lost 30 no readings for 30 s"));
  // What was not seen is not counted.
  EXPECT_NEAR(value(0, MetricId::gpu_observed_seconds_total), 3, 0.3);
}

TEST_F(GpuWatchTest, ReadingsThatAnUpgradeTakesAwayAreAnEvent) {
  begin(device("gemm"), 1);
  run_until_ms(1'000);
  stop();
  play("driver_version = \"610.1\"\n" + device("gemm") +
       "[[fault]]\nfunction = \"nvmlDeviceGetPowerUsage\"\nreturn = \"NOT_SUPPORTED\"\n");
  step_to_ms(1'000);
  restart(1);
  run_until_ms(2'000);
  EXPECT_THAT(event_lines(), ElementsAre("driver_changed 0 driver 610.1, was 580.159.04",
                                         "coverage_lost 0 no longer supported: gpu_power_watts"));
}

TEST_F(GpuWatchTest, ThrottlingStartsAndEnds) {
  begin(device("gemm") +
            "[[override]]\nreading = \"reasons\"\nvalue = 8\nfrom_ms = 1000\n"
            "until_ms = 2000\n",
        1);
  run_until_ms(4'000);
  EXPECT_THAT(event_lines(),
              ElementsAre("throttle_start 8 a hardware slowdown slows the clocks down",
                          "throttle_end 8 a hardware slowdown is over"));
  EXPECT_NEAR(value(0, MetricId::gpu_clock_event_seconds_total, 3), 1.0, 0.001);
}

TEST_F(GpuWatchTest, MemoryErrorsAreEventsAndSums) {
  begin(device("gemm") +
            "[[override]]\nreading = \"ecc_uncorrected_volatile\"\nvalue = 3\n"
            "from_ms = 5000\n",
        1);
  run_until_ms(11'000);
  EXPECT_THAT(event_lines(), ElementsAre("ecc 3 3 more uncorrected memory errors"));
  EXPECT_EQ(value(0, MetricId::gpu_ecc_uncorrected_accumulated_errors_total), 3);
}

}  // namespace
}  // namespace everywatt::sampler
