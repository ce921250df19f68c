// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/processes.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "device/nvml/fake_driver.h"
#include "device/nvml/power_samples.h"

namespace everywatt::nvml {
namespace {

using abi::ProcessInfo;
using abi::ProcessInfoV1;
using abi::ProcessUtilizationSample;
using abi::Return;
using catalog::State;

class ProcessesTest : public testing::Test {
 protected:
  void open() {
    library_ = driver_.open();
    device_.emplace(*Device::open_nth(*library_, 0, {.tally = &tally_}));
  }

  FakeDriver driver_;
  CallTally tally_;
  std::unique_ptr<Library> library_;
  std::optional<Device> device_;
};

Return one_process(abi::Device, unsigned* count, ProcessInfo* out) {
  *count = 1;
  out[0] = {.pid = 7, .used_gpu_memory = 100, .gpu_instance_id = 2, .compute_instance_id = 0};
  return Return::kSuccess;
}

TEST_F(ProcessesTest, ListsAreJoinedByPid) {
  driver_.set("nvmlDeviceGetComputeRunningProcesses_v3", one_process);
  driver_.set(
      "nvmlDeviceGetMPSComputeRunningProcesses_v3",
      +[](abi::Device, unsigned* count, ProcessInfo* out) {
        *count = 2;
        out[0] = {
            .pid = 7, .used_gpu_memory = ~0ull, .gpu_instance_id = 2, .compute_instance_id = 0};
        out[1] = {.pid = 3, .used_gpu_memory = 50, .gpu_instance_id = 0, .compute_instance_id = 0};
        return Return::kSuccess;
      });
  open();
  const auto processes = read_processes(*device_);
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 2u);
  EXPECT_EQ((*processes)[0].pid, 3u);
  EXPECT_EQ((*processes)[0].type_mask, kMpsBit);
  EXPECT_EQ((*processes)[1].type_mask, kComputeBit | kMpsBit);
  EXPECT_EQ((*processes)[1].memory_bytes, 100u) << "known beats unknown";
  EXPECT_EQ((*processes)[1].gpu_instance_id, 2u);
}

TEST_F(ProcessesTest, OneProcessInTwoInstancesIsListedForEach) {
  driver_.set(
      "nvmlDeviceGetComputeRunningProcesses_v3",
      +[](abi::Device, unsigned* count, ProcessInfo* out) {
        *count = 3;
        out[0] = {.pid = 7, .used_gpu_memory = 100, .gpu_instance_id = 5, .compute_instance_id = 0};
        out[1] = {.pid = 7, .used_gpu_memory = 60, .gpu_instance_id = 2, .compute_instance_id = 0};
        out[2] = {.pid = 3, .used_gpu_memory = 10, .gpu_instance_id = 5, .compute_instance_id = 0};
        return Return::kSuccess;
      });
  // A list of before there were instances.
  driver_.set(
      "nvmlDeviceGetGraphicsRunningProcesses",
      +[](abi::Device, unsigned* count, ProcessInfoV1* out) {
        *count = 1;
        out[0] = {.pid = 3, .used_gpu_memory = 10};
        return Return::kSuccess;
      });
  open();
  const auto processes = read_processes(*device_);
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 3u);
  EXPECT_EQ((*processes)[0].type_mask, kComputeBit | kGraphicsBit);
  EXPECT_EQ((*processes)[1].gpu_instance_id, 2u);
  EXPECT_EQ((*processes)[1].memory_bytes, 60u);
  EXPECT_EQ((*processes)[2].gpu_instance_id, 5u);
  EXPECT_EQ((*processes)[2].memory_bytes, 100u);
}

TEST_F(ProcessesTest, OldestListHasNoInstances) {
  driver_.set(
      "nvmlDeviceGetComputeRunningProcesses",
      +[](abi::Device, unsigned* count, ProcessInfoV1* out) {
        *count = 1;
        out[0] = {.pid = 9, .used_gpu_memory = 5};
        return Return::kSuccess;
      });
  open();
  const auto processes = read_processes(*device_);
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 1u);
  EXPECT_EQ((*processes)[0].pid, 9u);
}

TEST_F(ProcessesTest, HalfOfTheTruthIsNoAnswer) {
  driver_.set("nvmlDeviceGetComputeRunningProcesses_v3", one_process);
  driver_.set(
      "nvmlDeviceGetGraphicsRunningProcesses_v3",
      +[](abi::Device, unsigned*, ProcessInfo*) { return Return::kNoPermission; });
  open();
  EXPECT_EQ(read_processes(*device_).error(), State::kNoPermission);
}

TEST_F(ProcessesTest, NoListAtAllIsNotSupported) {
  open();
  EXPECT_EQ(read_processes(*device_).error(), State::kNotSupported);
}

unsigned list_length = 0;
int list_calls = 0;

// Issue P068: the list grows by five at each call, three times.
TEST_F(ProcessesTest, GrowingListIsFollowed) {
  driver_.set(
      "nvmlDeviceGetComputeRunningProcesses_v3",
      +[](abi::Device, unsigned* count, ProcessInfo* out) {
        if (++list_calls <= 3) list_length += 5;
        const unsigned room = *count;
        *count = list_length;
        if (room < list_length) return Return::kInsufficientSize;
        for (unsigned i = 0; i < list_length; ++i)
          out[i].pid = i + 1;
        return Return::kSuccess;
      });
  list_length = 20;
  list_calls = 0;
  open();
  EXPECT_EQ(read_processes(*device_)->size(), 30u);
  EXPECT_EQ(list_calls, 2);
}

TEST_F(ProcessesTest, ListThatNeverFitsIsGivenUp) {
  driver_.set(
      "nvmlDeviceGetComputeRunningProcesses_v3", +[](abi::Device, unsigned*, ProcessInfo*) {
        ++list_calls;
        return Return::kInsufficientSize;
      });
  list_calls = 0;
  open();
  EXPECT_EQ(read_processes(*device_).error(), State::kFailed);
  EXPECT_EQ(list_calls, 5);
}

unsigned largest_room = 0;

Return never_enough(unsigned* count) {
  largest_room = std::max(largest_room, *count);
  *count = *count < 60'000 ? 65'536 : 0;
  return Return::kInsufficientSize;
}

TEST_F(ProcessesTest, RoomEndsWhateverTheDriverSays) {
  driver_.set(
      "nvmlDeviceGetComputeRunningProcesses_v3",
      +[](abi::Device, unsigned* count, ProcessInfo*) { return never_enough(count); });
  driver_.set(
      "nvmlDeviceGetProcessUtilization",
      +[](abi::Device, ProcessUtilizationSample*, unsigned* count, unsigned long long) {
        return never_enough(count);
      });
  open();
  largest_room = 0;
  EXPECT_EQ(read_processes(*device_).error(), State::kFailed);
  EXPECT_EQ(largest_room, 65'536u);
  ProcessSamples samples;
  std::vector<ProcessSample> drained;
  EXPECT_EQ(samples.drain(*device_, 1'000'000, drained), State::kFailed);
  EXPECT_EQ(samples.drain(*device_, 2'000'000, drained), State::kFailed);
  EXPECT_EQ(largest_room, 65'536u);
}

// Driver 535.54.03 wrote entries of 32 bytes into the _v3 list, which are 24 before and after.
TEST_F(ProcessesTest, ListsThatGrewUnderTheirNameAreNotAsked) {
  driver_.set("nvmlDeviceGetComputeRunningProcesses_v2", one_process);
  driver_.set(
      "nvmlDeviceGetComputeRunningProcesses_v3", +[](abi::Device, unsigned* count, ProcessInfo*) {
        *count = 0;
        return Return::kSuccess;
      });
  const auto processes_with = [&](auto version) {
    driver_.set("nvmlSystemGetDriverVersion", version);
    open();
    return read_processes(*device_)->size();
  };
  EXPECT_EQ(processes_with(+[](char* text, unsigned) {
              std::strcpy(text, "535.54.03");
              return Return::kSuccess;
            }),
            1u);
  EXPECT_EQ(processes_with(+[](char* text, unsigned) {
              std::strcpy(text, "535.104.05");
              return Return::kSuccess;
            }),
            0u);
}

std::vector<ProcessUtilizationSample> driver_samples;
unsigned long long asked_since = 0;
bool says_buffer_size = false;

Return utilization(abi::Device, ProcessUtilizationSample* out, unsigned* count,
                   unsigned long long since) {
  asked_since = since;
  if (out == nullptr) {
    *count = 100;
    return Return::kInsufficientSize;
  }
  if (driver_samples.empty()) return Return::kNotFound;
  std::memset(static_cast<void*>(out), 0xaa, sizeof *out * *count);
  std::copy(driver_samples.begin(), driver_samples.end(), out);
  if (!says_buffer_size) *count = static_cast<unsigned>(driver_samples.size());
  return Return::kSuccess;
}

ProcessUtilizationSample sample(unsigned pid, unsigned long long stamp, unsigned sm) {
  return {
      .pid = pid, .time_stamp = stamp, .sm_util = sm, .mem_util = 1, .enc_util = 0, .dec_util = 0};
}

constexpr std::int64_t kNowUs = 1'000'000'000;

// Issue P003: 100 slots reported, 3 of them filled, the rest 0xAA.
TEST_F(ProcessesTest, RubbishSlotsAreNoSamples) {
  driver_.set("nvmlDeviceGetProcessUtilization", utilization);
  driver_samples = {sample(1, kNowUs - 30, 10), sample(2, kNowUs - 20, 20),
                    sample(3, kNowUs - 10, 30), sample(0, kNowUs - 5, 40)};
  says_buffer_size = true;
  open();
  ProcessSamples samples;
  std::vector<ProcessSample> drained;
  EXPECT_EQ(samples.drain(*device_, kNowUs, drained), State::kOk);
  EXPECT_EQ(drained.size(), 3u);
  EXPECT_EQ(drained[2].sm_ratio, 0.3);
  says_buffer_size = false;
}

// Issue P025: unordered samples; the cursor is the newest stamp; nothing is an answer too.
TEST_F(ProcessesTest, CursorIsTheNewestStampAndNothingIsEmpty) {
  driver_.set("nvmlDeviceGetProcessUtilization", utilization);
  driver_samples = {sample(1, 500, 10), sample(1, 900, 50), sample(2, 700, 20)};
  open();
  ProcessSamples samples;
  std::vector<ProcessSample> drained;
  EXPECT_EQ(samples.drain(*device_, kNowUs, drained), State::kOk);
  ASSERT_EQ(drained.size(), 2u);
  EXPECT_EQ(drained[0].sm_ratio, 0.5) << "the newest of each process";
  EXPECT_EQ(samples.drain(*device_, kNowUs, drained), State::kNoNewValue);
  EXPECT_EQ(asked_since, 900u);
  EXPECT_TRUE(drained.empty()) << "seen before";
  driver_samples.clear();
  EXPECT_EQ(samples.drain(*device_, kNowUs, drained), State::kNoNewValue);
  driver_samples = {sample(1, 1'000, 60)};
  EXPECT_EQ(samples.drain(*device_, kNowUs, drained), State::kOk);
}

TEST_F(ProcessesTest, ClockSetBackAsksFromTheBegin) {
  driver_.set("nvmlDeviceGetProcessUtilization", utilization);
  driver_samples = {sample(1, kNowUs, 10)};
  open();
  ProcessSamples samples;
  std::vector<ProcessSample> drained;
  samples.drain(*device_, kNowUs, drained);
  driver_samples = {sample(1, kNowUs - 3'600'000'000ull + 3'000'000'000ull, 20)};
  const std::int64_t now_us = kNowUs - 600'000'000;
  samples.drain(*device_, now_us, drained);
  EXPECT_EQ(asked_since, 0u);
  EXPECT_EQ(drained.size(), 1u);
}

TEST_F(ProcessesTest, ShareAboveAllIsRejected) {
  driver_.set("nvmlDeviceGetProcessUtilization", utilization);
  driver_samples = {sample(1, 500, 4'000)};
  open();
  ProcessSamples samples;
  std::vector<ProcessSample> drained;
  samples.drain(*device_, kNowUs, drained);
  ASSERT_EQ(drained.size(), 1u);
  EXPECT_FALSE(drained[0].sm_ratio);
  EXPECT_EQ(tally_.rejected, 1u);
}

TEST_F(ProcessesTest, PowerSamplesAreOrderedAndComeOnce) {
  driver_.set(
      "nvmlDeviceGetSamples", +[](abi::Device, abi::Selector, unsigned long long,
                                  abi::ValueType* type, unsigned* count, abi::Sample* out) {
        *type = abi::ValueType::kUnsignedInt;
        *count = 4;
        if (out == nullptr) return Return::kSuccess;
        const unsigned long long stamps[] = {300, 100, 200, 200};
        for (int i = 0; i < 4; ++i) {
          out[i].time_stamp = stamps[i];
          out[i].value.u32 = static_cast<unsigned>(stamps[i]) * 1000;
        }
        return Return::kSuccess;
      });
  open();
  PowerSamples power;
  std::vector<PowerSample> drained;
  EXPECT_EQ(power.drain(*device_, kNowUs, drained), State::kOk);
  ASSERT_EQ(drained.size(), 3u);
  EXPECT_EQ(drained[0].wall_us, 100);
  EXPECT_EQ(drained[2].watts, 300);
  EXPECT_EQ(power.drain(*device_, kNowUs, drained), State::kNoNewValue);
}

unsigned samples_held = 0;

// A driver that tells what its buffer holds now instead of its size.
TEST_F(ProcessesTest, PowerBufferThatFillsUpLaterIsReadWhole) {
  driver_.set(
      "nvmlDeviceGetSamples", +[](abi::Device, abi::Selector, unsigned long long since,
                                  abi::ValueType* type, unsigned* count, abi::Sample* out) {
        *type = abi::ValueType::kUnsignedInt;
        const unsigned room = *count;
        *count = samples_held;
        if (out == nullptr) return Return::kSuccess;
        if (room < samples_held) return Return::kInsufficientSize;
        for (unsigned i = 0; i < samples_held; ++i)
          out[i] = {.time_stamp = since + i + 1, .value = {.u64 = 1'000}};
        return Return::kSuccess;
      });
  open();
  PowerSamples power;
  std::vector<PowerSample> drained;
  samples_held = 1;
  EXPECT_EQ(power.drain(*device_, kNowUs, drained), State::kOk);
  samples_held = 119;
  EXPECT_EQ(power.drain(*device_, kNowUs, drained), State::kOk);
  EXPECT_EQ(drained.size(), 119u);
  samples_held = 200;
  EXPECT_EQ(power.drain(*device_, kNowUs, drained), State::kFailed);
  EXPECT_EQ(power.drain(*device_, kNowUs, drained), State::kOk);
  EXPECT_EQ(drained.size(), 200u);
}

}  // namespace
}  // namespace everywatt::nvml
