// SPDX-License-Identifier: Apache-2.0
//
// MIG instances are devices of their own, below their GPU. Issue P017: under MIG the GPU itself has
// no utilization, and neither absence is a zero.
#include <gmock/gmock.h>

#include "device/nvml/fake_driver.h"
#include "record/sampler/lanes_fixture.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::State;
using nvml::FakeDriver;
using nvml::abi::Device;
using nvml::abi::Return;
using recorder::DeviceStatus;

unsigned layout = 0;  // a bit an instance
bool swaps_places = false;
bool is_stale = false;  // the handle of the first instance
bool is_lost = false;
int names_left = -1;  // answers until the GPU is lost; below 0: no end of them

Device instance_handle(unsigned place) {
  return FakeDriver::handle(100 + place);
}
bool is_instance(Device device) {
  return device == instance_handle(0) || device == instance_handle(1);
}

Return uuid_of(Device device, char* text, unsigned) {
  if (is_stale && device == instance_handle(0)) return Return::kInvalidArgument;
  if (names_left == 0) return Return::kGpuIsLost;
  if (names_left > 0) --names_left;
  const std::string uuid = device == instance_handle(0)   ? "MIG-0"
                           : device == instance_handle(1) ? "MIG-1"
                                                          : "GPU-0";
  uuid.copy(text, uuid.size());
  return Return::kSuccess;
}

Return memory_of(Device device, nvml::abi::MemoryV2* memory) {
  if (is_lost) return Return::kGpuIsLost;
  if (is_stale && device == instance_handle(0)) return Return::kInvalidArgument;
  memory->total = is_instance(device) ? 10 : 80;
  memory->used = device == instance_handle(1) ? 5 : 1;
  memory->free = memory->total - memory->used;
  return Return::kSuccess;
}

class MigTest : public LanesFixture {
 protected:
  MigTest() {
    driver_.set(
        "nvmlDeviceGetHandleByPciBusId_v2", +[](const char*, Device* device) {
          *device = FakeDriver::handle(0);
          return is_lost ? Return::kGpuIsLost : Return::kSuccess;
        });
    driver_.set("nvmlDeviceGetUUID", uuid_of);
    driver_.set("nvmlDeviceGetMemoryInfo_v2", memory_of);
    driver_.set(
        "nvmlDeviceGetUtilizationRates",
        +[](Device, nvml::abi::Utilization*) { return Return::kNotSupported; });
    driver_.set(
        "nvmlDeviceGetMigMode", +[](Device, unsigned* current, unsigned* pending) {
          *current = *pending = 1;
          return Return::kSuccess;
        });
    driver_.set(
        "nvmlDeviceGetMaxMigDeviceCount", +[](Device, unsigned* count) {
          *count = 7;
          return Return::kSuccess;
        });
    driver_.set(
        "nvmlDeviceGetMigDeviceHandleByIndex", +[](Device, unsigned index, Device* device) {
          if ((layout >> index & 1) == 0) return Return::kNotFound;
          *device = instance_handle(swaps_places ? 1 - index : index);
          return Return::kSuccess;
        });
    driver_.set(
        "nvmlDeviceGetGpuInstanceId", +[](Device device, unsigned* id) {
          *id = device == instance_handle(0) ? 3 : 4;
          return Return::kSuccess;
        });
    driver_.set(
        "nvmlDeviceGetName", +[](Device device, char* text, unsigned) {
          const std::string name = is_instance(device) ? "H100 MIG 1g.10gb" : "H100";
          name.copy(text, name.size());
          return Return::kSuccess;
        });
  }
  std::unique_ptr<nvml::Library> make_library() override { return driver_.open(); }
  std::uint32_t mig_slot(unsigned number) const {
    return file_->slots(catalog::Scope::kGpu, slot(0))[number];
  }

  FakeDriver driver_;
};

TEST_F(MigTest, InstancesAreDevicesBelowTheirGpu) {
  layout = 0b11;
  begin(device("gemm"), 1);
  run_until_ms(3'000);
  const catalog::Row once = row(mig_slot(1), Lane::kOnce);
  EXPECT_EQ(once.text(MetricId::gpu_uuid), "MIG-1");
  EXPECT_EQ(once.text(MetricId::gpu_mig_parent_uuid), "GPU-0");
  EXPECT_EQ(once.text(MetricId::gpu_mig_profile), "1g.10gb");
  EXPECT_EQ(once.reading(MetricId::gpu_mig_gpu_instance).u64(), 4u);
  EXPECT_EQ(row(mig_slot(1), Lane::kGauge).reading(MetricId::gpu_memory_used_bytes).u64(), 5u);
  EXPECT_EQ(row(slot(0), Lane::kGauge).reading(MetricId::gpu_memory_used_bytes).u64(), 1u);
  EXPECT_EQ(reader_->device(mig_slot(0)).status, DeviceStatus::kOk);
  EXPECT_EQ(reader_->device(mig_slot(0)).parent, slot(0));
  EXPECT_EQ(row_count(mig_slot(0), Lane::kGauge), 4u) << "once at its begin, then each second";
}

TEST_F(MigTest, UtilizationUnderMigIsAbsentEverywhere) {
  layout = 0b01;
  begin(device("gemm"), 1);
  run_until_ms(1'000);
  EXPECT_EQ(latest(0, MetricId::gpu_utilization_ratio).state, State::kNotSupported);
  EXPECT_EQ(row(mig_slot(0), Lane::kGauge).state(MetricId::gpu_utilization_ratio),
            State::kNotSupported);
  EXPECT_EQ(latest(0, MetricId::gpu_busy_seconds_total).state, State::kNotSupported);
}

TEST_F(MigTest, LayoutThatChangesMovesSlots) {
  layout = 0b11;
  begin(device("gemm"), 1);
  run_until_ms(1'000);
  layout = 0b10;
  gpus_[0]->on_event({.type = nvml::EventType::kMigChanged});
  run_until_ms(2'000);
  EXPECT_EQ(reader_->device(mig_slot(0)).status, DeviceStatus::kGone);
  EXPECT_EQ(reader_->device(mig_slot(1)).status, DeviceStatus::kOk);
  EXPECT_EQ(row(mig_slot(1), Lane::kOnce).text(MetricId::gpu_uuid), "MIG-1");
  EXPECT_THAT(event_lines(), testing::ElementsAre("mig_changed 0 the MIG layout changed"));
}

// The driver says of a handle without an instance what it says of a question that it does not know.
TEST_F(MigTest, InstanceThatIsDestroyedWithoutAnEventIsGoneAndLacksNothing) {
  layout = 0b11;
  begin(device("gemm"), 1);
  run_until_ms(1'500);
  layout = 0b10;
  is_stale = true;
  run_until_ms(2'500);
  is_stale = false;
  EXPECT_EQ(reader_->device(mig_slot(0)).status, DeviceStatus::kGone);
  EXPECT_EQ(row(mig_slot(0), Lane::kGauge).state(MetricId::gpu_memory_used_bytes), State::kLost);
  EXPECT_EQ(reader_->device(mig_slot(1)).status, DeviceStatus::kOk);
  EXPECT_THAT(event_lines(), testing::IsEmpty());
}

TEST_F(MigTest, ProcessesAreListedWithTheirInstanceAndNotAgainWithTheGpu) {
  driver_.set(
      "nvmlDeviceGetComputeRunningProcesses_v3",
      +[](Device device, unsigned* count, nvml::abi::ProcessInfo* out) {
        *count = is_instance(device) ? 1 : 2;
        const unsigned own = device == instance_handle(0) ? 3 : 4;
        for (unsigned i = 0; i < *count; ++i) {
          const unsigned instance = is_instance(device) ? own : 3 + i;
          out[i] = {.pid = 70 + instance,
                    .used_gpu_memory = 1000,
                    .gpu_instance_id = instance,
                    .compute_instance_id = 0};
        }
        return Return::kSuccess;
      });
  layout = 0b01;  // the other instance is not read by itself
  begin(device("gemm"), 1);
  run_until_ms(1'500);
  EXPECT_EQ(row(mig_slot(0), Lane::kProcess).reading(MetricId::process_pid).u64(), 73u);
  EXPECT_EQ(row(slot(0), Lane::kProcess).reading(MetricId::process_count).u64(), 1u);
  EXPECT_EQ(row(slot(0), Lane::kProcess).reading(MetricId::process_pid).u64(), 74u);
}

TEST_F(MigTest, IndexFollowsTheDriversCount) {
  layout = 0b10;
  begin(device("gemm"), 1);
  run_until_ms(1'000);
  EXPECT_EQ(reader_->device(mig_slot(0)).index, 1u);
  swaps_places = true;
  layout = 0b01;
  gpus_[0]->on_event({.type = nvml::EventType::kMigChanged});
  run_until_ms(2'000);
  swaps_places = false;
  EXPECT_EQ(reader_->device(mig_slot(0)).index, 0u);
  EXPECT_EQ(reader_->device(mig_slot(0)).status, DeviceStatus::kOk);
  EXPECT_EQ(reader_->device(mig_slot(1)).status, DeviceStatus::kUnused);
}

TEST_F(MigTest, InstancesAreLostWithTheirGpu) {
  layout = 0b11;
  begin(device("gemm"), 1);
  run_until_ms(1'000);
  is_lost = true;
  run_until_ms(2'000);
  EXPECT_EQ(reader_->device(mig_slot(0)).status, DeviceStatus::kLost);
  EXPECT_EQ(reader_->device(mig_slot(1)).status, DeviceStatus::kLost);
  is_lost = false;
  layout = 0b01;
  run_until_ms(10'000);
  EXPECT_EQ(reader_->device(mig_slot(0)).status, DeviceStatus::kOk);
  EXPECT_EQ(reader_->device(mig_slot(1)).status, DeviceStatus::kGone);
}

TEST_F(MigTest, GpuThatIsLostAgainBeforeItIsNamedKeepsItsSums) {
  layout = 0;
  begin(device("gemm"), 1);
  run_until_ms(3'000);
  const std::int64_t begun_ns = reader_->device(slot(0)).rows_before_ns;
  const double observed = value(0, MetricId::gpu_observed_seconds_total);
  is_lost = true;
  run_until_ms(4'000);
  is_lost = false;
  names_left = 1;
  run_until_ms(6'000);
  EXPECT_EQ(status_of(0), DeviceStatus::kLost);
  EXPECT_EQ(row(slot(0), Lane::kOnce).text(MetricId::gpu_uuid), "GPU-0");
  names_left = -1;
  run_until_ms(20'000);
  EXPECT_EQ(status_of(0), DeviceStatus::kOk);
  EXPECT_GE(value(0, MetricId::gpu_observed_seconds_total) - observed, 5);
  EXPECT_EQ(reader_->device(slot(0)).rows_before_ns, begun_ns) << "the slot never changed hands";
}

TEST_F(MigTest, NoLayoutHasNoInstances) {
  layout = 0;
  begin(device("gemm"), 1);
  run_until_ms(1'000);
  EXPECT_EQ(reader_->device(mig_slot(0)).status, DeviceStatus::kUnused);
}

}  // namespace
}  // namespace everywatt::sampler
