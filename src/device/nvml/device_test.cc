// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/device.h"

#include <gtest/gtest.h>

#include <array>
#include <climits>

#include "device/nvml/fake_driver.h"
#include "device/nvml/source.h"

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

class DeviceTest : public testing::Test {
 protected:
  // Opens the fake driver as it is now.
  void open() {
    library_ = driver_.open();
    device_.emplace(*Device::open_nth(*library_, 0, {.tally = &tally_}));
  }
  // One row of the lane, of a driver as it is now.
  Row read(Lane lane) {
    open();
    Row row(Scope::kGpu, lane);
    for (const Source& source : sources(lane))
      source.read(*device_, row);
    return row;
  }

  FakeDriver driver_;
  CallTally tally_;
  std::unique_ptr<Library> library_;
  std::optional<Device> device_;
  Row gauge_{Scope::kGpu, Lane::kGauge};
};

TEST_F(DeviceTest, NumbersArriveInBaseUnits) {
  open();
  device_->put(gauge_, MetricId::gpu_utilization_ratio, Return::kSuccess, 7u, kPercent);
  EXPECT_EQ(gauge_.reading(MetricId::gpu_utilization_ratio).f64(), 0.07);
  device_->put(gauge_, MetricId::gpu_power_watts, Return::kSuccess, 694263u, kMilli);
  EXPECT_EQ(gauge_.reading(MetricId::gpu_power_watts).f64(), 694.263);
  device_->put(gauge_, MetricId::gpu_sm_clock_hertz, Return::kSuccess, 1980u, kMega);
  EXPECT_EQ(gauge_.reading(MetricId::gpu_sm_clock_hertz).f64(), 1.98e9);
  device_->put(gauge_, MetricId::gpu_temperature_celsius, Return::kSuccess, -5);
  EXPECT_EQ(gauge_.reading(MetricId::gpu_temperature_celsius).f64(), -5);
}

TEST_F(DeviceTest, MasksStayExact) {
  open();
  constexpr unsigned long long kMask = (1ull << 62) | 1;
  device_->put(gauge_, MetricId::gpu_clock_event_reasons_mask, Return::kSuccess, kMask);
  EXPECT_EQ(gauge_.reading(MetricId::gpu_clock_event_reasons_mask).u64(), kMask);
}

TEST_F(DeviceTest, BytesThatDoNotFitAreInvalid) {
  open();
  Row slow(Scope::kGpu, Lane::kSlow);
  const auto put_kib = [&](unsigned long long kib) {
    device_->put(slow, MetricId::gpu_nvlink_transmit_bytes_total, Return::kSuccess, kib, kKibi);
    return slow.reading(MetricId::gpu_nvlink_transmit_bytes_total);
  };
  EXPECT_EQ(put_kib(1ull << 53).u64(), 1ull << 63);
  EXPECT_EQ(put_kib(1ull << 54).state, State::kInvalid);
  EXPECT_EQ(tally_.rejected, 1u);
}

// Issue P002: 37, 4294967295, 41, 1200 in a row.
TEST_F(DeviceTest, BlanksAndImpossibleValuesAreInvalidAndCounted) {
  open();
  const auto state = [&](auto percent) {
    device_->put(gauge_, MetricId::gpu_utilization_ratio, Return::kSuccess, percent, kPercent);
    return gauge_.state(MetricId::gpu_utilization_ratio);
  };
  EXPECT_EQ(state(37u), State::kOk);
  EXPECT_EQ(state(4294967295u), State::kInvalid);
  EXPECT_EQ(state(41u), State::kOk);
  EXPECT_EQ(state(1200u), State::kInvalid);
  EXPECT_EQ(state(0x7ffffff0u), State::kInvalid);
  EXPECT_EQ(tally_.rejected, 3u);
}

TEST(IsBlank, KnowsTheVendorsBlanks) {
  EXPECT_TRUE(is_blank(~0u));
  EXPECT_TRUE(is_blank(~0ull));
  EXPECT_TRUE(is_blank(0x7ffffff3));
  EXPECT_TRUE(is_blank(0x7ffffffffffffff0ll));
  EXPECT_FALSE(is_blank(-1));
  EXPECT_FALSE(is_blank(0u));
  EXPECT_FALSE(is_blank(0x7fffffefu));
  EXPECT_FALSE(is_blank(0xffffffffull));
}

TEST_F(DeviceTest, PowerAboveTheLimitIsTrueUpToThreeTimes) {
  driver_.set(
      "nvmlDeviceGetPowerManagementLimitConstraints",
      +[](abi::Device, unsigned* min, unsigned* max) {
        *min = 200'000;
        *max = 700'000;
        return Return::kSuccess;
      });
  open();
  EXPECT_EQ(device_->power_limit_max_watts(), 700);
  device_->put(gauge_, MetricId::gpu_power_watts, Return::kSuccess, 942'000u, kMilli);
  EXPECT_EQ(gauge_.reading(MetricId::gpu_power_watts).f64(), 942);
  device_->put(gauge_, MetricId::gpu_power_watts, Return::kSuccess, 42'000'000u, kMilli);
  EXPECT_EQ(gauge_.state(MetricId::gpu_power_watts), State::kInvalid);
}

// Issue P010: the two memory calls count the reservation differently.
TEST_F(DeviceTest, MemoryFromTheOldCallHasNoReservation) {
  driver_.set(
      "nvmlDeviceGetMemoryInfo", +[](abi::Device, abi::Memory* memory) {
        *memory = {.total = 1000, .free = 300, .used = 700};
        return Return::kSuccess;
      });
  const Row row = read(Lane::kGauge);
  EXPECT_EQ(row.reading(MetricId::gpu_memory_used_bytes).u64(), 700u);
  EXPECT_EQ(row.reading(MetricId::gpu_memory_free_bytes).u64(), 300u);
  EXPECT_EQ(row.state(MetricId::gpu_memory_reserved_bytes), State::kNotSupported);
}

TEST_F(DeviceTest, MemoryFromTheNewCallAddsUp) {
  driver_.set(
      "nvmlDeviceGetMemoryInfo_v2", +[](abi::Device, abi::MemoryV2* memory) {
        if (memory->version != abi::version_word<abi::MemoryV2>(2)) {
          return Return::kArgumentVersionMismatch;
        }
        memory->total = 1000;
        memory->reserved = 100;
        memory->used = 600;
        memory->free = 300;
        return Return::kSuccess;
      });
  const Row row = read(Lane::kGauge);
  EXPECT_EQ(row.reading(MetricId::gpu_memory_used_bytes).u64() +
                row.reading(MetricId::gpu_memory_free_bytes).u64() +
                row.reading(MetricId::gpu_memory_reserved_bytes).u64(),
            read(Lane::kOnce).reading(MetricId::gpu_memory_total_bytes).u64());
}

// Issue P012: GPUs that share the system's memory.
TEST_F(DeviceTest, MemoryOfZeroBytesIsNoMemory) {
  driver_.set(
      "nvmlDeviceGetMemoryInfo_v2", +[](abi::Device, abi::MemoryV2*) { return Return::kSuccess; });
  EXPECT_EQ(read(Lane::kGauge).state(MetricId::gpu_memory_used_bytes), State::kNotSupported);
  EXPECT_EQ(read(Lane::kOnce).state(MetricId::gpu_memory_total_bytes), State::kNotSupported);
}

TEST_F(DeviceTest, NewTemperatureCallStandsBeforeTheOld) {
  driver_.set(
      "nvmlDeviceGetTemperature", +[](abi::Device, abi::Selector, unsigned* celsius) {
        *celsius = 40;
        return Return::kSuccess;
      });
  EXPECT_EQ(read(Lane::kGauge).reading(MetricId::gpu_temperature_celsius).f64(), 40);
  driver_.set(
      "nvmlDeviceGetTemperatureV", +[](abi::Device, abi::Temperature* temperature) {
        temperature->temperature = 41;
        return Return::kSuccess;
      });
  EXPECT_EQ(read(Lane::kGauge).reading(MetricId::gpu_temperature_celsius).f64(), 41);
}

// Issue P016: numbers that a newer driver gives a meaning.
TEST_F(DeviceTest, UnknownArchitectureIsNamedByItsNumber) {
  driver_.set(
      "nvmlDeviceGetArchitecture", +[](abi::Device, unsigned* number) {
        *number = 99;
        return Return::kSuccess;
      });
  EXPECT_EQ(read(Lane::kOnce).text(MetricId::gpu_architecture), "unknown(99)");
}

// Issue P091: a GPU without NVLink is not one whose links are down.
TEST_F(DeviceTest, LinksThatAreNotThereAreNotDown) {
  const Row row = read(Lane::kSlow);
  for (unsigned link = 0; link < 18; ++link) {
    EXPECT_EQ(row.state(MetricId::gpu_nvlink_state, link), State::kNotSupported);
  }
  EXPECT_EQ(read(Lane::kOnce).reading(MetricId::gpu_nvlink_links).u64(), 0u);
}

TEST_F(DeviceTest, LinksEndWhereTheDriverSaysSo) {
  driver_.set(
      "nvmlDeviceGetNvLinkState", +[](abi::Device, unsigned link, unsigned* state) {
        *state = link == 3 ? 0 : 1;
        return link < 12 ? Return::kSuccess : Return::kInvalidArgument;
      });
  const Row row = read(Lane::kSlow);
  EXPECT_EQ(row.reading(MetricId::gpu_nvlink_state, 3).u64(), 0u);
  EXPECT_EQ(row.reading(MetricId::gpu_nvlink_state, 11).u64(), 1u);
  EXPECT_EQ(row.state(MetricId::gpu_nvlink_state, 12), State::kNotSupported);
  EXPECT_EQ(read(Lane::kOnce).reading(MetricId::gpu_nvlink_links).u64(), 12u);
}

TEST_F(DeviceTest, AFailingLinkIsNotTheEndOfTheLinks) {
  driver_.set(
      "nvmlDeviceGetNvLinkState", +[](abi::Device, unsigned link, unsigned* is_up) {
        *is_up = 1;
        return link < 2 ? Return::kSuccess : Return::kInUse;
      });
  const Row row = read(Lane::kOnce);
  EXPECT_EQ(row.state(MetricId::gpu_nvlink_links), State::kFailed);
  EXPECT_EQ(row.state(MetricId::gpu_nvlink_remote_address, 1), State::kFailed);
}

TEST_F(DeviceTest, FansOfTheOldCall) {
  driver_.set(
      "nvmlDeviceGetFanSpeed", +[](abi::Device, unsigned* percent) {
        *percent = 35;
        return Return::kSuccess;
      });
  const Row row = read(Lane::kSlow);
  EXPECT_EQ(row.reading(MetricId::gpu_fan_speed_ratio, 0).f64(), 0.35);
  EXPECT_EQ(row.state(MetricId::gpu_fan_speed_ratio, 1), State::kNotSupported);
}

TEST_F(DeviceTest, RetiredPagesAreCountedWithoutRoomForThem) {
  driver_.set(
      "nvmlDeviceGetRetiredPages",
      +[](abi::Device, abi::Selector, unsigned* count, unsigned long long*) {
        *count = 4;
        return Return::kInsufficientSize;
      });
  EXPECT_EQ(read(Lane::kSlow).reading(MetricId::gpu_retired_pages_double_bit_total).u64(), 4u);
}

TEST_F(DeviceTest, HostLimitsThePcieGenerationOnlyWhereItIsTheLowerOne) {
  driver_.set(
      "nvmlDeviceGetMaxPcieLinkGeneration", +[](abi::Device, unsigned* generation) {
        *generation = 3;
        return Return::kSuccess;
      });
  driver_.set(
      "nvmlDeviceGetGpuMaxPcieLinkGeneration", +[](abi::Device, unsigned* generation) {
        *generation = 5;
        return Return::kSuccess;
      });
  EXPECT_EQ(read(Lane::kOnce).reading(MetricId::gpu_pcie_link_generation_host_max).u64(), 3u);
}

TEST_F(DeviceTest, LossIsRememberedUntilAskedFor) {
  driver_.set(
      "nvmlDeviceGetUtilizationRates",
      +[](abi::Device, abi::Utilization*) { return Return::kGpuIsLost; });
  const Row row = read(Lane::kGauge);
  EXPECT_EQ(row.state(MetricId::gpu_utilization_ratio), State::kLost);
  EXPECT_EQ(device_->take_condition(), State::kLost);
  EXPECT_EQ(device_->take_condition(), State::kOk);
}

TEST_F(DeviceTest, EmptyLibraryHasEveryMetricAbsentAndNoneUnread) {
  for (const Lane lane : {Lane::kGauge, Lane::kSlow, Lane::kOnce}) {
    const Row row = read(lane);
    for (const MetricId id : catalog::schema(Scope::kGpu, lane).metrics) {
      const std::string_view name = catalog::metric(id).name;
      // Those two come from a thread of their own.
      if (name.starts_with("gpu_pcie_blocking_")) continue;
      EXPECT_NE(row.state(id), State::kNotRead) << name << " has no source";
    }
  }
}

}  // namespace
}  // namespace everywatt::nvml
