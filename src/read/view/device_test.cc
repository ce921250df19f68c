// SPDX-License-Identifier: Apache-2.0
#include "read/view/device.h"

#include <gtest/gtest.h>

#include "read/view/view_fixture.h"

namespace everywatt::view {
namespace {

Device gpu(std::uint32_t index, const std::string& uuid, const std::string& address) {
  Device device;
  device.slot = 100 + index;
  device.index = index;
  device.uuid = uuid;
  device.pci_address = address;
  return device;
}

std::vector<Device> three() {
  std::vector<Device> gpus = {gpu(0, "GPU-aa11-0000", "00000000:06:00.0"),
                              gpu(1, "GPU-aa22-0000", "00000000:07:00.0"),
                              gpu(2, "GPU-3b33-0000", "00010000:07:00.0")};
  Device mig = gpu(1, "MIG-cc44-0000", "00000000:06:00.0");
  mig.slot = 200;
  mig.parent = 100;
  mig.parent_index = 0;
  gpus.push_back(mig);
  return gpus;
}

TEST(FindGpu, TakesAnyNameThatPeopleHaveForAGpu) {
  const auto gpus = three();
  const std::pair<const char*, std::uint32_t> cases[] = {
      {"0", 100},
      {" 2 ", 102},
      {"GPU-aa11-0000", 100},
      {"gpu-AA11-0000", 100},
      {"GPU-aa2", 101},
      {"aa1", 100},
      {"3b", 102},
      {"MIG-cc44-0000", 200},
      {"cc4", 200},
      {"0:1", 200},
      {"06:00.0", 100},
      {"0000:06:00.0", 100},
      {"00000000:06:00.0", 100},
      {"0000:06:00", 100},
  };
  for (const auto& [text, slot] : cases) {
    const auto found = find_gpu(gpus, text);
    ASSERT_TRUE(found) << text << ": " << found.error().message;
    EXPECT_EQ(found->slot, slot) << text;
  }
}

// The driver numbers only the GPUs that it could start.
TEST(FindGpu, AnIndexMeansTheGpuThatTheDriverNamed) {
  auto gpus = three();
  gpus.push_back(gpu(1, "", "00000000:05:00.0"));
  gpus.back().slot = 300;
  gpus.push_back(gpu(3, "", "00000000:08:00.0"));
  gpus.back().slot = 301;
  EXPECT_EQ(find_gpu(gpus, "1")->slot, 101u);
  EXPECT_EQ(find_gpu(gpus, "3")->slot, 301u);
  EXPECT_EQ(find_gpu(gpus, "05:00.0")->slot, 300u);
}

TEST(FindGpu, ADomainTellsApartWhatABusNumberDoesNot) {
  const auto gpus = three();
  EXPECT_EQ(find_gpu(gpus, "00010000:07:00.0")->slot, 102u);
  const auto found = find_gpu(gpus, "07:00.0");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(found.error().message,
            "'07:00.0' is not one GPU: there are 1 (GPU-aa22-0000), 2 (GPU-3b33-0000)");
}

TEST(FindGpu, WhatIsUnknownOrAmbiguousNamesWhatThereIs) {
  const auto gpus = three();
  for (const char* text : {"7", "0:9", "GPU-", "MIG-", "", "zz", "-1", "00:00.0", "0:06", "1e0"}) {
    const auto found = find_gpu(gpus, text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, base::Code::kNotFound) << text;
  }
  EXPECT_EQ(find_gpu(gpus, "7").error().message,
            "no GPU '7' here: there are 0 (GPU-aa11-0000), 1 (GPU-aa22-0000), 2 (GPU-3b33-0000), "
            "0:1 (MIG-cc44-0000)");
  EXPECT_EQ(find_gpu(gpus, "GPU-aa").error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(find_gpu({}, "0").error().message, "no GPU '0' here: there is none");
}

TEST(FindGpu, TextFromOutsideCannotForgeALine) {
  const auto found = find_gpu(three(), "a\nb\x1b[31m");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(found.error().message.find('\x1b'), std::string::npos);
}

TEST(FindGpu, NumberOfOneThatIsGoneIsItsFollowers) {
  std::vector<Device> gpus = three();
  Device gone = gpus.back();
  ASSERT_TRUE(gone.is_mig());
  gone.slot = 300;
  gone.uuid = "MIG-dd55-0000";
  gone.status = DeviceStatus::kGone;
  gpus.push_back(gone);
  EXPECT_EQ(find_gpu(gpus, "0:1")->slot, 200u);
  EXPECT_EQ(find_gpu(gpus, "MIG-dd55")->slot, 300u) << "what it did is recorded";
  gpus.erase(gpus.end() - 2);
  EXPECT_EQ(find_gpu(gpus, "0:1")->slot, 300u);
}

TEST(Devices, DestroyedInstancesAreNotPresentAndRemovedGpusAre) {
  Machine machine({.gpus = 2, .migs_per_gpu = 1});
  machine.file().set_status(machine.mig(0, 0), recorder::DeviceStatus::kOk, kSecond);
  machine.file().set_status(machine.gpu(1), recorder::DeviceStatus::kGone, kSecond);
  EXPECT_EQ(present_gpus(*machine.view()).size(), 3u);
  machine.file().set_status(machine.mig(0, 0), recorder::DeviceStatus::kGone, kSecond);
  EXPECT_EQ(present_gpus(*machine.view()).size(), 2u);
  EXPECT_EQ(gpus(*machine.view()).size(), 3u);
}

TEST(Devices, AreInOrderWithMigInstancesBehindTheirGpu) {
  Machine machine({.gpus = 2, .migs_per_gpu = 2});
  machine.name_gpu(0, kSecond, "GPU-a", "00000000:06:00.0");
  machine.name_gpu(1, kSecond, "GPU-b", "00000000:07:00.0");
  machine.name_slot(machine.mig(0, 1), kSecond, "MIG-c", "00000000:06:00.0");
  machine.file().device(machine.mig(0, 1)).index.store(1);
  machine.file().set_status(machine.mig(0, 1), recorder::DeviceStatus::kOk, kSecond);
  const auto view = machine.view();
  const std::vector<Device> found = gpus(*view);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].label(), "GPU 0");
  EXPECT_EQ(found[0].uuid, "GPU-a");
  EXPECT_EQ(found[0].name, "NVIDIA H200");
  EXPECT_EQ(found[1].label(), "GPU 0 MIG 1");
  EXPECT_EQ(found[1].parent, machine.gpu(0));
  EXPECT_EQ(found[2].pci_address, "00000000:07:00.0");
  EXPECT_TRUE(node(*view).has_value());
}

TEST(Devices, APartIsCalledByItsName) {
  Machine machine;
  std::vector<std::string> names;
  for (const Device& part : devices(*machine.view(), catalog::Scope::kPart)) {
    names.push_back(part.label());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"supervisor", "sampler", "host", "server"}));
}

TEST(DeviceStatus, EveryOneHasANameAndAState) {
  EXPECT_EQ(status_name(DeviceStatus::kTimedOut), "timed_out");
  EXPECT_EQ(status_state(DeviceStatus::kGone), catalog::State::kLost);
  EXPECT_EQ(status_name(static_cast<DeviceStatus>(99)), "unknown");
  EXPECT_EQ(status_state(static_cast<DeviceStatus>(99)), catalog::State::kFailed);
  EXPECT_FALSE(is_away(DeviceStatus::kFailed));
  EXPECT_TRUE(is_away(DeviceStatus::kDrained));
}

}  // namespace
}  // namespace everywatt::view
