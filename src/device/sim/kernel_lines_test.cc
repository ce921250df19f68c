// SPDX-License-Identifier: Apache-2.0
#include "device/sim/kernel_lines.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "device/sim/fake_trace_files.h"
#include "device/sim/library_link.h"

namespace everywatt::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr BootTimes kBoot = {.uptime_ns = 100 * kSecond, .wall_ns = 0};

Scenario two_gpus() {
  Scenario scenario;
  scenario.devices.resize(2);
  return scenario;
}

std::vector<std::string> texts(const Scenario& scenario) {
  std::vector<std::string> all;
  for (const KernelLineEntry& line : kernel_lines(scenario))
    all.push_back(std::to_string(line.at_ns / kSecond) + " " + line.text);
  return all;
}

TEST(KernelLines, AnXidIsWrittenAsTheDriverDoesWithItsProcessWhereItIsKnown) {
  Scenario scenario = two_gpus();
  scenario.events = {
      {.gpu = 1, .at_ns = 4 * kSecond, .type = 8, .number = 13, .pid = 42, .process = "train"},
      {.gpu = 0, .at_ns = 2 * kSecond, .type = 8, .number = 999},
      {.gpu = 0, .at_ns = 3 * kSecond, .type = 1, .number = 13}};
  EXPECT_THAT(texts(scenario),
              ElementsAre("2 NVRM: Xid (PCI:0000:01:00): 999, pid='<unknown>', name=<unknown>",
                          "4 NVRM: Xid (PCI:0000:02:00): 13, pid=42, name=train, Graphics "
                          "Exception: ESR 0x404490=0x80000001"));
}

TEST(KernelLines, AGpuThatFallsOffTheBusIsToldTwice) {
  Scenario scenario = two_gpus();
  scenario.events = {{.gpu = 0, .at_ns = kSecond, .type = 8, .number = 79}};
  EXPECT_THAT(texts(scenario),
              ElementsAre("1 NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU "
                          "has fallen off the bus.",
                          "1 NVRM: GPU 0000:01:00.0: GPU has fallen off the bus."));
}

TEST(KernelLines, ALinkIsToldOfWhenItChanges) {
  Scenario scenario = two_gpus();
  scenario.links = {
      {.gpu = 0, .link = 3, .state = LinkState::kUp},
      {.gpu = 0, .link = 3, .state = LinkState::kDown, .span = {2 * kSecond, 5 * kSecond}},
      {.gpu = 0, .link = 3, .errors_per_second = 9, .span = {kSecond, 2 * kSecond}}};
  EXPECT_THAT(texts(scenario),
              ElementsAre("1 NVRM: nvlink: GPU 0000:01:00.0: link 3: checksum errors",
                          "2 NVRM: nvlink: GPU 0000:01:00.0: link 3: link down",
                          "5 NVRM: nvlink: GPU 0000:01:00.0: link 3: link up"));
}

TEST(KernelLines, CardsComeAndGoAndTheKernelKillsForMemory) {
  Scenario scenario = two_gpus();
  scenario.devices[1].present = {kSecond, 9 * kSecond};
  scenario.processes = {{.pid = 7,
                         .span = {0, 5 * kSecond},
                         .command = "/opt/bin/train --big",
                         .out_of_memory = true}};
  scenario.kernel_lines = {{.at_ns = 2 * kSecond, .text = "anything"}};
  EXPECT_THAT(texts(scenario),
              ElementsAre(HasSubstr("1 pcieport 0000:00:02.0: pciehp: Slot(1): Card present"),
                          HasSubstr("1 pci 0000:02:00.0: [10de:2335]"), "2 anything",
                          HasSubstr("5 Out of memory: Killed process 7 (train) total-vm:"),
                          HasSubstr("9 pcieport 0000:00:02.0: pciehp: Slot(1): Card not present")));
}

TEST(KernelLogFile, GrowsAsLinesBecomeDueAndGoesOnBehindThoseOfAnEarlierPlayer) {
  const FakeTraceFiles files;
  const std::string path = files.folder() + "/dev/kmsg";
  Scenario scenario = two_gpus();
  scenario.kernel_lines = {{.at_ns = kSecond, .text = "one \"\\\n"},
                           {.at_ns = 2 * kSecond, .priority = 6, .text = "two"}};
  auto log = KernelLogFile::open(path, scenario);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(*base::read_file(path), "");
  ASSERT_TRUE(log->write(kSecond, kBoot));
  const std::string first = "3,0,101000000,-;one \"\\x5c\\x0a\n";
  EXPECT_EQ(*base::read_file(path), first);
  ASSERT_TRUE(log->write(0, kBoot));
  auto next = KernelLogFile::open(path, scenario);
  ASSERT_TRUE(next->write(5 * kSecond, kBoot));
  EXPECT_EQ(*base::read_file(path), first + "6,1,102000000,-;two\n");
}

TEST(LibraryLink, IsThereUnlessTheScenarioSaysAbsent) {
  const FakeTraceFiles files;
  const std::string path = files.folder() + "/lib/libnvidia-ml.so.1";
  Scenario scenario = two_gpus();
  const auto none = LibraryLink::open(path, "/the/library", scenario);
  ASSERT_TRUE(none && none->show(0));
  EXPECT_FALSE(std::filesystem::exists(files.folder() + "/lib"));

  scenario.libraries = {{.absent = true, .span = {kSecond, 2 * kSecond}}};
  const auto link = LibraryLink::open(path, "/the/library", scenario);
  ASSERT_TRUE(link && link->show(0) && link->show(0));
  EXPECT_EQ(std::filesystem::read_symlink(path), "/the/library");
  ASSERT_TRUE(link->show(kSecond) && link->show(kSecond));
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  ASSERT_TRUE(link->show(2 * kSecond));
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  const auto again = LibraryLink::open(path, "/another", scenario);
  ASSERT_TRUE(again && again->show(kSecond) && again->show(0));
  EXPECT_EQ(std::filesystem::read_symlink(path), "/the/library");
}

}  // namespace
}  // namespace everywatt::sim
