// SPDX-License-Identifier: Apache-2.0
#include "app/gpu_bus.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace everywatt::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class GpuBusTest : public testing::Test {
 protected:
  GpuBusTest() {
    std::string pattern = testing::TempDir() + "everywatt_bus_XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~GpuBusTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  std::string folder(const std::string& address) const {
    return root_ + "/sys/bus/pci/devices/" + address;
  }
  void plug(const std::string& address, const std::string& device_class = "0x030200") {
    std::filesystem::create_directories(folder(address));
    std::ofstream(folder(address) + "/class") << device_class << "\n";
    std::ofstream(folder(address) + "/vendor") << "0x10de\n";
  }

  std::string root_;
};

TEST_F(GpuBusTest, ListsWhatIsThereNow) {
  GpuBus bus{host::Root(root_)};
  EXPECT_THAT(bus.list(), IsEmpty());
  plug("0000:02:00.0");
  plug("0000:03:00.0", "0x068000");
  EXPECT_THAT(bus.list(), ElementsAre("0000:02:00.0"));
  plug("0000:01:00.0");
  EXPECT_THAT(bus.list(), ElementsAre("0000:01:00.0", "0000:02:00.0"));
  std::filesystem::remove_all(folder("0000:02:00.0"));
  EXPECT_THAT(bus.list(), ElementsAre("0000:01:00.0"));
}

TEST_F(GpuBusTest, LooksAgainAtWhatWasNotCompleteAtFirst) {
  GpuBus bus{host::Root(root_)};
  std::filesystem::create_directories(folder("0000:02:00.0"));
  EXPECT_THAT(bus.list(), IsEmpty());
  plug("0000:02:00.0");
  EXPECT_THAT(bus.list(), ElementsAre("0000:02:00.0"));
}

TEST_F(GpuBusTest, ReadsNoDeviceWhileTheNamesStay) {
  plug("0000:02:00.0");
  GpuBus bus{host::Root(root_)};
  bus.list();
  bus.list();
  std::ofstream(folder("0000:02:00.0") + "/vendor") << "0x1234\n";
  EXPECT_THAT(bus.list(), ElementsAre("0000:02:00.0"));
}

}  // namespace
}  // namespace everywatt::app
