// SPDX-License-Identifier: Apache-2.0
//
// The sampler as a whole, in real time: the only tests here that start threads and wait for them.
#include "record/sampler/sampler.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <chrono>
#include <functional>
#include <thread>

#include "record/sampler/lanes_fixture.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::State;
using recorder::DeviceStatus;
using testing::ElementsAre;
using testing::HasSubstr;

class SamplerTest : public LanesFixture {
 protected:
  void make(const std::string& scenario, unsigned gpus) {
    play(scenario, sim::Pace::kRealTime);
    options_ = {};
    options_.library = library_options();
    for (unsigned i = 0; i < gpus; ++i)
      options_.pci_addresses.push_back(address(i));
    make_file(gpus);
  }
  // Runs the sampler until `is_done`, at most for ten seconds; returns how long stopping took.
  std::chrono::milliseconds run_until(const std::function<bool()>& is_done) {
    auto sampler = Sampler::open(options_, *file_);
    EXPECT_TRUE(sampler) << sampler.error().message;
    std::jthread thread([&](std::stop_token stop) { (*sampler)->run(stop); });
    const auto begin = std::chrono::steady_clock::now();
    while (!is_done() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) {
      std::this_thread::yield();
    }
    EXPECT_TRUE(is_done());
    const auto stopped = std::chrono::steady_clock::now();
    thread.request_stop();
    thread.join();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 stopped);
  }
};

TEST_F(SamplerTest, OnceReadsEachLane) {
  make(device("gemm") + device("fed", "profile = \"a100\"\n"), 2);
  const base::Status status = sample_once(options_, *file_);
  ASSERT_TRUE(status) << status.error().message;
  for (const Lane lane : {Lane::kGauge, Lane::kProcess, Lane::kSlow, Lane::kOnce, Lane::kFaults}) {
    EXPECT_EQ(row_count(slot(0), lane), 1u) << catalog::lane_name(lane);
    EXPECT_EQ(row_count(slot(1), lane), 1u) << catalog::lane_name(lane);
  }
  EXPECT_EQ(row_count(slot(0), Lane::kPower), 119u);
  EXPECT_TRUE(latest(0, MetricId::gpu_sm_active_ratio).is_ok());
  EXPECT_EQ(latest(1, MetricId::gpu_sm_active_ratio).state, State::kNotSupported);
  EXPECT_EQ(status_of(0), DeviceStatus::kOk);
}

TEST_F(SamplerTest, OnceFindsTheGpusByItselfWithoutAddresses) {
  make(device("gemm") + device("fed"), 2);
  options_.pci_addresses.clear();
  ASSERT_TRUE(sample_once(options_, *file_));
  EXPECT_EQ(row(slot(1), Lane::kOnce).reading(MetricId::gpu_index).u64(), 1u);
}

TEST_F(SamplerTest, OnceWithoutALibrarySaysWhatWasTried) {
  make(device("gemm"), 1);
  options_.library.path = folder() + "/libnvidia-ml.so.1";
  const base::Status status = sample_once(options_, *file_);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::Code::kNotFound);
  EXPECT_THAT(status.error().message, HasSubstr(folder() + "/libnvidia-ml.so.1: No such file"));
}

TEST_F(SamplerTest, ThreadsReadAllGpusAndStopWithinASecond) {
  make(device("gemm") + device("fed"), 2);
  const auto stop_time = run_until([this] {
    return row_count(slot(0), Lane::kGauge) >= 4 && row_count(slot(1), Lane::kGauge) >= 4;
  });
  EXPECT_LT(stop_time, std::chrono::seconds(1));
  EXPECT_EQ(status_of(1), DeviceStatus::kOk);
  const recorder::PartSlot& part = reader_->part(recorder::Part::kSampler);
  EXPECT_EQ(part.pid.load(), static_cast<std::uint64_t>(::getpid()));
  EXPECT_GT(part.heartbeat_ns.load(), 0u);
}

TEST_F(SamplerTest, LibraryIsGoneFromTheProcessAfterAStop) {
  make(device("gemm"), 1);
  run_until([this] { return row_count(slot(0), Lane::kGauge) >= 1; });
  std::ifstream maps("/proc/self/maps");
  const std::string text((std::istreambuf_iterator<char>(maps)), {});
  EXPECT_THAT(text, testing::Not(HasSubstr("libnvidia-ml")));
}

TEST_F(SamplerTest, AbsentLibraryIsToldOnceAndTriedAgain) {
  make(device("gemm"), 1);
  options_.library.path = folder() + "/libnvidia-ml.so.1";
  options_.retry_ns = 20'000'000;
  bool is_there = false;
  run_until([&] {
    if (!is_there && !event_lines().empty()) {
      EXPECT_EQ(status_of(0), DeviceStatus::kFailed);
      EXPECT_EQ(row(slot(0), Lane::kOnce).text(MetricId::gpu_pci_address), "00000000:01:00.0");
      std::filesystem::create_symlink(library_options().path, options_.library.path);
      is_there = true;
    }
    return row_count(slot(0), Lane::kGauge) > 0;
  });
  EXPECT_EQ(status_of(0), DeviceStatus::kOk);
  EXPECT_THAT(event_lines(), ElementsAre(HasSubstr("driver_absent 0 no usable NVIDIA library"),
                                         HasSubstr("driver_back 0 the driver can be used again")));
}

// A driver that is not there is tried for days.
TEST(TallyBook, KnowsOnlySoManyThreadsHoweverOftenTheLibraryIsTried) {
  const auto file = *recorder::File::create_anonymous(recorder::live_layout({.gpus = 1}));
  unsigned tries = 0;
  std::stop_source stop;
  Options options;
  options.retry_ns = 1;
  options.pci_addresses = {"0000:01:00.0"};
  options.library.resolve = [&](const char*) -> void* {
    if (++tries == 200) stop.request_stop();
    return nullptr;
  };
  const auto sampler = Sampler::open(options, *file);
  ASSERT_TRUE(sampler);
  const std::size_t before = ::mallinfo2().uordblks;
  (*sampler)->run(stop.get_token());
  EXPECT_LT(::mallinfo2().uordblks, before + 64 * 1024);
}

TEST_F(SamplerTest, EventOfTheDriverIsInTheRecorderAtOnce) {
  make(device("gemm") + "[[event]]\nat_ms = 700\nxid = 31\n", 1);
  run_until([this] { return !event_lines().empty(); });
  EXPECT_THAT(event_lines(), ElementsAre("xid 31 XID 31"));
  EXPECT_EQ(value(0, MetricId::gpu_xid_errors_total, 31), 1);
  const std::uint32_t part = file_->slots(catalog::Scope::kPart)[1];
  const std::int64_t told_ns = row(part, Lane::kEvent).time_ns;
  EXPECT_LT(told_ns - (playhead().origin_ns() + 700'000'000), 100'000'000);
}

TEST_F(SamplerTest, EventsThatAreRefusedAreTriedAgain) {
  const std::string fault = "[[fault]]\ntimes = 1\nreturn = \"UNKNOWN\"\nfunction = ";
  make(device("gemm") + fault + "\"nvmlEventSetCreate\"\n" + fault +
           "\"nvmlDeviceRegisterEvents\"\n[[event]]\nat_ms = 4000\nxid = 31\n",
       1);
  options_.retry_ns = 100 * kMs;
  run_until([this] { return !event_lines().empty(); });
  EXPECT_THAT(event_lines(), ElementsAre("xid 31 XID 31"));
  EXPECT_EQ(playhead().calls("nvmlDeviceRegisterEvents"), 2u);
}

TEST_F(SamplerTest, FencedGpuIsNotTouched) {
  make(device("gemm") + device("fed"), 2);
  options_.fenced = {0};
  file_->set_status(slot(0), DeviceStatus::kTimedOut, 1);
  run_until([this] { return row_count(slot(1), Lane::kGauge) > 0; });
  EXPECT_EQ(status_of(0), DeviceStatus::kTimedOut);
  EXPECT_EQ(row_count(slot(0), Lane::kGauge), 0u);
  EXPECT_EQ(row(slot(0), Lane::kOnce).text(MetricId::gpu_pci_address), "00000000:01:00.0");
}

// Counting GPUs, and finding one by its number, may touch the one that hangs.
TEST_F(SamplerTest, FencedGpuIsNotTouchedWhereTheKernelShowsNoGpusEither) {
  make(device("gemm") + device("fed"), 2);
  options_.pci_addresses.clear();
  run_until([this] { return row_count(slot(1), Lane::kOnce) > 0; });
  const std::uint64_t rows = row_count(slot(0), Lane::kGauge);
  const std::uint64_t others = row_count(slot(1), Lane::kGauge);
  const std::uint64_t counts = playhead().calls("nvmlDeviceGetCount_v2");
  const std::uint64_t numbers = playhead().calls("nvmlDeviceGetHandleByIndex_v2");
  options_.fenced = {0};
  run_until([&] { return row_count(slot(1), Lane::kGauge) > others + 2; });
  EXPECT_EQ(row_count(slot(0), Lane::kGauge), rows);
  EXPECT_EQ(playhead().calls("nvmlDeviceGetCount_v2"), counts);
  EXPECT_EQ(playhead().calls("nvmlDeviceGetHandleByIndex_v2"), numbers);
}

TEST_F(SamplerTest, SamplerTellsHowItKeepsUp) {
  make(device("gemm"), 1);
  const std::uint32_t part = file_->slots(catalog::Scope::kPart)[1];
  run_until([&] { return row_count(part, Lane::kSampling) >= 3; });
  const catalog::Row self = row(part, Lane::kSampling);
  const auto gauge = static_cast<unsigned>(Lane::kGauge);
  EXPECT_GE(self.reading(MetricId::everywatt_ticks_total, gauge).u64(), 5u);
  EXPECT_GT(self.reading(MetricId::everywatt_driver_calls_total).u64(), 100u);
  EXPECT_GT(self.reading(MetricId::everywatt_readings_total).u64(), 100u);
  EXPECT_EQ(self.reading(MetricId::everywatt_failed_calls_total).u64(), 0u);
  EXPECT_EQ(self.state(MetricId::everywatt_ticks_total, static_cast<unsigned>(Lane::kHost)),
            State::kNotRead);
}

TEST_F(SamplerTest, FourGpusCanHaveALease) {
  std::string scenario;
  for (int i = 0; i < 6; ++i)
    scenario += device("gemm");
  make(scenario, 6);
  auto sampler = Sampler::open(options_, *file_);
  ASSERT_TRUE(sampler);
  const std::int64_t until_ns = base::boottime_ns() + 30'000'000'000;
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_TRUE((*sampler)->lease(slot(i), until_ns));
  EXPECT_FALSE((*sampler)->lease(slot(4), until_ns));
  EXPECT_TRUE((*sampler)->lease(slot(3), until_ns + 1));
  EXPECT_FALSE((*sampler)->lease(0, until_ns)) << "the machine is no GPU";
}

TEST(SamplerOptions, PeriodsFasterThanTheSourceAreRefused) {
  Options options;
  EXPECT_TRUE(check(options));
  options.periods.gpm_fast_ns = 1'000'000;
  const base::Status status = check(options);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the period of gpm_fast is 1 ms, outside 100 ms to 60000 ms");
}

class StuckCallsTest : public LanesFixture {};

TEST_F(StuckCallsTest, CallPastItsDeadlineIsFound) {
  make_file(2);
  recorder::DeviceSlot& gpu = file_->device(slot(1));
  gpu.call_since_ns = 5'000'000'000;
  gpu.call = static_cast<std::uint64_t>(nvml::Call::kDeviceGetUtilizationRates) + 1;
  EXPECT_TRUE(find_stuck_calls(*file_, 7'000'000'000, {}).empty());
  const std::vector<StuckCall> stuck = find_stuck_calls(*file_, 7'000'000'001, {});
  ASSERT_EQ(stuck.size(), 1u);
  EXPECT_EQ(stuck[0].device, slot(1));
  EXPECT_EQ(nvml::call_name(stuck[0].call), "nvmlDeviceGetUtilizationRates");
  EXPECT_EQ(stuck[0].since_ns, 5'000'000'000);
}

TEST_F(StuckCallsTest, StartOfTheLibraryMayTakeLonger) {
  make_file(1);
  recorder::DeviceSlot& node = file_->device(0);
  node.call_since_ns = 0;
  node.call = static_cast<std::uint64_t>(nvml::Call::kInit) + 1;
  EXPECT_TRUE(find_stuck_calls(*file_, 30'000'000'000, {}).empty());
  EXPECT_EQ(find_stuck_calls(*file_, 30'000'000'001, {}).size(), 1u);
}

}  // namespace
}  // namespace everywatt::sampler
