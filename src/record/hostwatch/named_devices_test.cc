// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/named_devices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "record/hostwatch/fake_machine.h"

namespace everywatt::hostwatch {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Scope;
using recorder::DeviceStatus;

// Two slots for network interfaces.
class NamedDevicesTest : public testing::Test {
 protected:
  NamedDevices make() {
    return {machine_.recorder(), machine_.reader(), Scope::kInterface,
            MetricId::host_interface_name};
  }
  // One tick in which these are there; which of them got a slot.
  std::vector<std::string_view> see(NamedDevices& devices,
                                    const std::vector<std::string_view>& names) {
    std::vector<std::string_view> kept;
    devices.begin_tick(++now_ns_);
    for (const std::string_view name : names) {
      if (devices.start(name, complaints_) == nullptr) continue;
      devices.append();
      kept.push_back(name);
    }
    devices.end_tick();
    return kept;
  }
  std::uint32_t slot(std::size_t place) {
    return machine_.recorder().slots(Scope::kInterface).at(place);
  }
  DeviceStatus status(std::size_t place) { return machine_.reader().device(slot(place)).status; }
  std::size_t rows(std::size_t place, Lane lane) {
    return machine_.rows(slot(place), Scope::kInterface, lane).size();
  }

  FakeMachine machine_;
  Complaints complaints_;
  std::int64_t now_ns_ = 1'000'000'000'000;
};

using Names = std::vector<std::string_view>;

TEST_F(NamedDevicesTest, KeepTheirSlotsWhateverTheirOrder) {
  NamedDevices devices = make();
  EXPECT_EQ(see(devices, {"eth0", "eth1"}), (Names{"eth0", "eth1"}));
  EXPECT_EQ(see(devices, {"eth1", "eth0"}), (Names{"eth1", "eth0"}));
  EXPECT_EQ(rows(0, Lane::kOnce), 1u);
  EXPECT_EQ(rows(0, Lane::kHost), 2u);
  EXPECT_EQ(rows(1, Lane::kHost), 2u);
}

TEST_F(NamedDevicesTest, ThatAreGoneComeBackToTheirSlots) {
  NamedDevices devices = make();
  see(devices, {"eth0", "eth1"});
  see(devices, {"eth1"});
  EXPECT_EQ(status(0), DeviceStatus::kGone);
  EXPECT_EQ(status(1), DeviceStatus::kOk);
  see(devices, {"eth0", "eth1"});
  EXPECT_EQ(status(0), DeviceStatus::kOk);
  EXPECT_EQ(rows(0, Lane::kOnce), 1u);
  EXPECT_EQ(rows(0, Lane::kHost), 2u);
}

TEST_F(NamedDevicesTest, BeyondTheSlotsCostTheOthersNothing) {
  NamedDevices devices = make();
  EXPECT_EQ(see(devices, {"eth0", "eth1", "eth2", "eth3"}), (Names{"eth0", "eth1"}));
  EXPECT_EQ(see(devices, {"eth3", "eth1"}), Names{"eth1"});
}

TEST_F(NamedDevicesTest, WithNamesOfAnyBytesKeepTheirSlotsOverARestart) {
  const Names names = {"e\xff\x1b[31m", "eth1"};
  {
    NamedDevices devices = make();
    EXPECT_EQ(see(devices, names), names);
  }
  NamedDevices devices = make();
  EXPECT_EQ(see(devices, names), names);
  EXPECT_EQ(see(devices, names), names);
  EXPECT_EQ(rows(0, Lane::kOnce), 1u);
  EXPECT_EQ(rows(0, Lane::kHost), 3u);
  EXPECT_EQ(rows(1, Lane::kHost), 3u);
}

TEST_F(NamedDevicesTest, WithNamesThatLookTheSameAreStillTwo) {
  NamedDevices devices = make();
  EXPECT_EQ(see(devices, {"e\xfe", "e\xff"}), (Names{"e\xfe", "e\xff"}));
  EXPECT_EQ(rows(0, Lane::kHost), 1u);
  EXPECT_EQ(rows(1, Lane::kHost), 1u);
}

}  // namespace
}  // namespace everywatt::hostwatch
