// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/library.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "device/nvml/device.h"
#include "device/nvml/fake_driver.h"

namespace everywatt::nvml {
namespace {

using abi::Return;
using base::Code;
using testing::HasSubstr;

// Issue P103: what is wrong with a library is said with its path.
class LibraryFileTest : public testing::Test {
 protected:
  LibraryFileTest() : folder_(testing::TempDir() + "everywatt_library") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~LibraryFileTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/libnvidia-ml.so.1"; }
  base::Error error() const {
    auto library = Library::open({.path = path(), .resolve = {}});
    EXPECT_FALSE(library);
    return library ? base::Error{} : library.error();
  }
  std::string folder_;
};

TEST_F(LibraryFileTest, MissingFile) {
  EXPECT_EQ(error().code, Code::kNotFound);
  EXPECT_THAT(error().message, HasSubstr(path() + ": No such file or directory"));
}

TEST_F(LibraryFileTest, DanglingLink) {
  std::filesystem::create_symlink("libnvidia-ml.so.580.1", path());
  EXPECT_THAT(error().message, HasSubstr(path() + ": a link to a file that is not there"));
}

TEST_F(LibraryFileTest, Directory) {
  std::filesystem::create_directory(path());
  EXPECT_THAT(error().message, HasSubstr(path() + ": a directory"));
}

TEST_F(LibraryFileTest, FileOfAnotherMachine) {
  std::filesystem::copy_file("/proc/self/exe", path());
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(18);             // e_machine of the ELF header
  file.write("\x08\x00", 2);  // MIPS
  file.close();
  EXPECT_THAT(error().message, HasSubstr(path() + ": "));
  EXPECT_EQ(error().code, Code::kNotFound);
}

TEST_F(LibraryFileTest, NoLibraryAtAll) {
  std::ofstream(path()) << "not a library";
  EXPECT_THAT(error().message, HasSubstr(path() + ": file too short"));
}

TEST_F(LibraryFileTest, LibraryWithoutTheFunctions) {
  std::filesystem::create_symlink("/lib/x86_64-linux-gnu/libm.so.6", path());
  if (!std::filesystem::exists(path())) GTEST_SKIP() << "no libm where Debian has it";
  EXPECT_THAT(error().message, HasSubstr("no nvmlInit_v2 in it: not the driver's library"));
}

// Nine paths in one line tell nobody anything.
TEST(LibrarySearch, NothingAnywhereIsOneShortLine) {
  auto library = Library::open({});
  if (library) GTEST_SKIP() << "this machine has the driver's library";
  EXPECT_EQ(library.error().message,
            "no usable NVIDIA library (libnvidia-ml.so.1 is nowhere to be found)");
  EXPECT_EQ(library.error().hint,
            "install the NVIDIA driver, or name its library with --nvml-library");
}

TEST(LibraryOpen, RefusedStartSaysWhatToDo) {
  FakeDriver driver;
  driver.set("nvmlInit_v2", +[] { return Return::kDriverNotLoaded; });
  EXPECT_EQ(Library::open(driver.options()).error().code, Code::kUnavailable);
  driver.set("nvmlInit_v2", +[] { return Return::kLibRmVersionMismatch; });
  EXPECT_EQ(Library::open(driver.options()).error().code, Code::kNotSupported);
  driver.set("nvmlInit_v2", +[] { return Return::kNoPermission; });
  EXPECT_EQ(Library::open(driver.options()).error().code, Code::kNoPermission);
  driver.set("nvmlInit_v2", +[] { return Return::kUnknown; });
  EXPECT_EQ(Library::open(driver.options()).error().message,
            "fake: the driver does not start (nvmlInit: 999)");
}

// Issue P104: older names, and names before and after a renaming.
TEST(LibraryCall, TakesTheNewestNameThereIs) {
  FakeDriver driver;
  driver.remove("nvmlInit_v2");
  driver.set("nvmlInit", +[] { return Return::kSuccess; });
  driver.set(
      "nvmlDeviceGetCurrentClocksThrottleReasons", +[](abi::Device, unsigned long long* mask) {
        *mask = 1;
        return Return::kSuccess;
      });
  auto library = driver.open();
  unsigned long long mask = 0;
  EXPECT_EQ(library->call<Call::kDeviceGetCurrentClocksEventReasons>({}, nullptr, &mask),
            Return::kSuccess);
  EXPECT_EQ(mask, 1u);
  driver.set(
      "nvmlDeviceGetCurrentClocksEventReasons", +[](abi::Device, unsigned long long* mask) {
        *mask = 2;
        return Return::kSuccess;
      });
  library = driver.open();
  EXPECT_EQ(library->call<Call::kDeviceGetCurrentClocksEventReasons>({}, nullptr, &mask),
            Return::kSuccess);
  EXPECT_EQ(mask, 2u);
}

TEST(LibraryCall, MissingFunctionIsNotFoundAndCostsNothing) {
  FakeDriver driver;
  auto library = driver.open();
  CallTally tally;
  abi::Utilization rates{};
  EXPECT_EQ(library->call<Call::kDeviceGetUtilizationRates>({.tally = &tally}, nullptr, &rates),
            Return::kFunctionNotFound);
  EXPECT_FALSE(library->has(Call::kDeviceGetUtilizationRates));
  EXPECT_EQ(tally.calls, 0u);
}

std::atomic<std::uint64_t> crumb{0};
std::atomic<std::uint64_t> crumb_since_ns{0};
std::uint64_t crumb_inside = 0;

TEST(LibraryCall, LeavesABreadcrumbWhileItRunsAndCounts) {
  FakeDriver driver;
  driver.set(
      "nvmlDeviceGetUtilizationRates", +[](abi::Device, abi::Utilization*) {
        crumb_inside = crumb;
        return Return::kGpuIsLost;
      });
  auto library = driver.open();
  CallTally tally;
  const CallTrace trace{.call = &crumb, .since_ns = &crumb_since_ns, .tally = &tally};
  abi::Utilization rates{};
  library->call<Call::kDeviceGetUtilizationRates>(trace, nullptr, &rates);
  EXPECT_EQ(breadcrumb_name(crumb_inside), "nvmlDeviceGetUtilizationRates");
  EXPECT_EQ(crumb, 0u);
  EXPECT_GT(crumb_since_ns, 0u);
  EXPECT_EQ(tally.calls, 1u);
  EXPECT_EQ(tally.failures, 1u);
}

TEST(LibraryCall, UnsupportedIsNoFailure) {
  FakeDriver driver;
  driver.set(
      "nvmlDeviceGetUtilizationRates",
      +[](abi::Device, abi::Utilization*) { return Return::kNotSupported; });
  auto library = driver.open();
  CallTally tally;
  abi::Utilization rates{};
  library->call<Call::kDeviceGetUtilizationRates>({.tally = &tally}, nullptr, &rates);
  EXPECT_EQ(tally.calls, 1u);
  EXPECT_EQ(tally.failures, 0u);
}

}  // namespace
}  // namespace everywatt::nvml
