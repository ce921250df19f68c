// SPDX-License-Identifier: Apache-2.0
#include "device/sim/gpu.h"

#include <gmock/gmock.h>

namespace everywatt::sim {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kMs = 1'000'000;
// One pass from 0 to 4 s, then 1-4 s.
constexpr Loop kLoop = {0, 1'000 * kMs, 4'000 * kMs};

std::vector<std::uint32_t> pids(const std::vector<RunningProcess>& processes) {
  std::vector<std::uint32_t> numbers;
  for (const RunningProcess& process : processes)
    numbers.push_back(process.pid);
  return numbers;
}

class SimGpuTest : public testing::Test {
 protected:
  SimGpuTest() { scenario_.devices.resize(2); }

  static std::shared_ptr<const GpuTrace> trace_of(std::int64_t first_list_ms,
                                                  std::int64_t last_list_ms) {
    auto trace = std::make_shared<GpuTrace>();
    for (std::uint32_t ms = 0; ms < 4'000; ms += 100) {
      trace->columns[index_of(Column::kUtilGpu)].append(ms * 1000, ms / 100);
      trace->columns[index_of(Column::kEnergy)].append(ms * 1000, 1'000 + ms);
    }
    for (std::int64_t ms = first_list_ms; ms <= last_list_ms; ms += 1'000) {
      trace->listings.push_back({.at_ns = ms * kMs,
                                 .end_ns = (ms + 1'000) * kMs,
                                 .processes = {{.ordinal = 0,
                                                .memory_bytes = static_cast<std::uint64_t>(ms),
                                                .sm_percent = static_cast<int>(ms / 100)}}});
    }
    return trace;
  }
  Gpu gpu(std::uint32_t number = 0) { return {number, scenario_, trace_of(0, 3'000), kLoop}; }

  Scenario scenario_;
};

TEST_F(SimGpuTest, ReadsWhatTheTraceSaysInEveryLap) {
  const Gpu gpu = this->gpu();
  EXPECT_EQ(gpu.read(Column::kUtilGpu, 3'999 * kMs), 39);
  EXPECT_EQ(gpu.read(Column::kUtilGpu, 4'000 * kMs), 10);
  EXPECT_EQ(gpu.read(Column::kUtilGpu, 7'150 * kMs), 11);
}

// A loop of a nanosecond, played for a day: going through its laps one by one would never end.
TEST_F(SimGpuTest, ALongPlayOfAShortLoopWithoutSamplesIsOverAtOnce) {
  const Loop loop = {0, 500 * kMs, 500 * kMs + 1};
  auto without_samples = std::make_shared<GpuTrace>(*trace_of(0, 0));
  without_samples->listings.front().processes.front().sm_percent = -1;
  const Gpu gpu(0, scenario_, without_samples, loop);
  EXPECT_TRUE(gpu.process_samples(-1'000 * kMs, 86'400'000 * kMs).empty());
  const Gpu first_pass_only(0, scenario_, trace_of(0, 0), loop);
  EXPECT_EQ(first_pass_only.process_samples(-1'000 * kMs, 86'400'000 * kMs).size(), 1u);
}

TEST_F(SimGpuTest, CountersGoOnOverTheSeam) {
  const Gpu gpu = this->gpu();
  EXPECT_EQ(gpu.read(Column::kEnergy, 3'999 * kMs), 4'900);
  EXPECT_EQ(gpu.read(Column::kEnergy, 4'000 * kMs), 4'900);
  EXPECT_EQ(gpu.read(Column::kEnergy, 4'100 * kMs), 5'000);
  EXPECT_EQ(gpu.read(Column::kEnergy, 7'000 * kMs), 4'900 + 2'900);
}

TEST_F(SimGpuTest, HasTheSizeAndTheLimitsOfTheRecordedGpuInEveryProfile) {
  scenario_.devices[1].profile = "a100";
  const Gpu gpu = this->gpu(1);
  EXPECT_EQ(gpu.profile().name, "NVIDIA A100-SXM4-80GB");
  EXPECT_FALSE(gpu.profile().has_gpm);
  EXPECT_EQ(gpu.read_u64(Column::kFbTotal, 0), 143'771ull << 20);
  EXPECT_EQ(gpu.read(Column::kPowerLimit, 0), 700'000);
  EXPECT_EQ(gpu.read(Column::kPcieGeneration, 0), 4);
}

TEST_F(SimGpuTest, GpusAreDistinct) {
  const Gpu first = gpu(0);
  const Gpu second = gpu(1);
  EXPECT_NE(first.uuid(), second.uuid());
  EXPECT_NE(first.serial(), second.serial());
  EXPECT_NE(first.pci_bus(), second.pci_bus());
  EXPECT_EQ(first.uuid(), "GPU-5ee00000-e0e7-4a77-8000-000000000001");
}

TEST_F(SimGpuTest, OverridesHoldForTheirGpuAndSpan) {
  scenario_.overrides.push_back({.gpu = 1,
                                 .column = Column::kUtilGpu,
                                 .value = 4'294'967'295,
                                 .span = {1'000 * kMs, 2'000 * kMs}});
  EXPECT_EQ(gpu(0).read(Column::kUtilGpu, 1'500 * kMs), 15);
  EXPECT_EQ(gpu(1).read(Column::kUtilGpu, 999 * kMs), 9);
  EXPECT_EQ(gpu(1).read(Column::kUtilGpu, 1'500 * kMs), 4'294'967'295);
  EXPECT_EQ(gpu(1).read_u32(Column::kUtilGpu, 1'500 * kMs), 4'294'967'295u);
  EXPECT_EQ(gpu(1).read(Column::kUtilGpu, 2'000 * kMs), 20);
}

TEST_F(SimGpuTest, AnOverrideMayGrow) {
  scenario_.overrides.push_back({.column = Column::kPcieReplay,
                                 .value = 3,
                                 .per_second = 2,
                                 .span = {1'000 * kMs, kForever}});
  EXPECT_EQ(gpu().read(Column::kPcieReplay, 0), 0);
  EXPECT_EQ(gpu().read(Column::kPcieReplay, 1'000 * kMs), 3);
  EXPECT_EQ(gpu().read(Column::kPcieReplay, 3'500 * kMs), 7);
}

TEST_F(SimGpuTest, AProcessThatSpansTheSeamKeepsItsPid) {
  const Gpu gpu = this->gpu(1);
  EXPECT_THAT(pids(gpu.processes(ProcessKind::kCompute, 500 * kMs)), ElementsAre(11'000));
  EXPECT_THAT(pids(gpu.processes(ProcessKind::kCompute, 9'500 * kMs)), ElementsAre(11'000));
}

TEST_F(SimGpuTest, AProcessThatEndsWithinTheLoopIsANewOneInEachLap) {
  const Gpu gpu(1, scenario_, trace_of(1'500, 2'500), kLoop);
  EXPECT_THAT(pids(gpu.processes(ProcessKind::kCompute, 2'000 * kMs)), ElementsAre(11'000));
  EXPECT_THAT(pids(gpu.processes(ProcessKind::kCompute, 3'900 * kMs)), ElementsAre());
  EXPECT_THAT(pids(gpu.processes(ProcessKind::kCompute, 5'000 * kMs)), ElementsAre(11'064));
  EXPECT_THAT(pids(gpu.processes(ProcessKind::kCompute, 8'000 * kMs)), ElementsAre(11'128));
}

TEST_F(SimGpuTest, ScriptedProcessesAreListedByTheirKind) {
  scenario_.processes.push_back({.gpu = 0, .kind = ProcessKind::kMps, .pid = 5, .memory_bytes = 9});
  scenario_.processes.push_back({.pid = 6, .span = {0, 1'000 * kMs}});
  const Gpu gpu = this->gpu();
  EXPECT_THAT(pids(gpu.processes(ProcessKind::kMps, 0)), ElementsAre(5));
  EXPECT_THAT(pids(gpu.processes(ProcessKind::kCompute, 0)), ElementsAre(10'000, 6));
  EXPECT_THAT(pids(gpu.processes(ProcessKind::kCompute, 1'000 * kMs)), ElementsAre(10'000));
  EXPECT_THAT(pids(gpu.processes(ProcessKind::kGraphics, 0)), ElementsAre());
}

TEST_F(SimGpuTest, ProcessSamplesComeOldestFirstAndOnlyThoseAfterTheGivenTime) {
  const std::vector<ProcessSample> samples = gpu().process_samples(1'000 * kMs, 5'500 * kMs);
  std::vector<std::int64_t> times;
  for (const ProcessSample& sample : samples)
    times.push_back(sample.played_ns / kMs);
  EXPECT_THAT(times, ElementsAre(2'000, 3'000, 4'000, 5'000));  // 4,000: the loop's begin again
  EXPECT_EQ(samples[2].process.usage.sm_percent, 10);
}

TEST_F(SimGpuTest, KeepsAHundredProcessSamples) {
  const std::vector<ProcessSample> samples = gpu().process_samples(-1, 1'000'000 * kMs);
  ASSERT_EQ(samples.size(), 100u);
  EXPECT_EQ(samples.back().played_ns, 1'000'000 * kMs);
  EXPECT_EQ(samples.front().played_ns, 901'000 * kMs);
}

TEST_F(SimGpuTest, ProcessesWithoutASampleAreLeftOut) {
  auto trace = std::make_shared<GpuTrace>();
  trace->listings.push_back({.at_ns = 0, .end_ns = 4'000 * kMs, .processes = {{.sm_percent = -1}}});
  const Gpu gpu(0, scenario_, trace, kLoop);
  EXPECT_TRUE(gpu.process_samples(-1, 500 * kMs).empty());
  EXPECT_EQ(gpu.processes(ProcessKind::kCompute, 0).size(), 1u);
}

TEST_F(SimGpuTest, ScriptedProcessesAreSampledAtWholeSeconds) {
  scenario_.processes.push_back({.pid = 5, .sm_percent = 30});
  const Gpu gpu(0, scenario_, std::make_shared<GpuTrace>(), kLoop);
  const std::vector<ProcessSample> samples = gpu.process_samples(0, 2'500 * kMs);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].played_ns, 2'000 * kMs);
  EXPECT_EQ(samples[0].process.usage.encoder_percent, 0);
  EXPECT_TRUE(gpu.process_samples(2'000 * kMs, 2'500 * kMs).empty());
}

TEST_F(SimGpuTest, AListGrowsAsOftenAsTheScenarioSays) {
  scenario_.devices[0].growing_lists = 2;
  Gpu gpu = this->gpu();
  EXPECT_TRUE(gpu.take_list_growth());
  EXPECT_TRUE(gpu.take_list_growth());
  EXPECT_FALSE(gpu.take_list_growth());
}

}  // namespace
}  // namespace everywatt::sim
