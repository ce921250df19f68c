// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "record/hostwatch/fake_machine.h"

namespace everywatt::hostwatch {
namespace {

using catalog::EventKind;
using catalog::EventSource;
using catalog::MetricId;
using catalog::State;

constexpr std::int64_t kSecondNs = 1'000'000'000;

class KernelWatchTest : public ::testing::Test {
 protected:
  KernelWatchTest() {
    machine_.root.write("/dev/kmsg", "");
    machine_.name_gpu(0, "0000:1B:00.0");
    machine_.name_gpu(1, "00000000:3B:00.0");
  }
  void say(std::int64_t time_ns, const std::string& text) {
    machine_.root.append("/dev/kmsg",
                         fmt::format("4,{},{},-;{}\n", ++sequence_, time_ns / 1000, text));
  }

  FakeMachine machine_;
  std::uint64_t sequence_ = 0;
};

TEST_F(KernelWatchTest, TellsAnXidAtOnceWithGpuAndProcess) {
  machine_.put(1142, {.name = "xid"});
  auto watch = machine_.open();
  watch->tick();
  machine_.pass_seconds(0.05);
  say(1, "NVRM: Xid (PCI:0000:3b:00): 31, pid=1142, name=xid, channel 0x0000000a");
  watch->take_events();
  const auto events = machine_.events(EventKind::kXid);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].time_ns, machine_.now_ns);
  EXPECT_EQ(events[0].reading(MetricId::event_wall_ns).i64(),
            machine_.now_ns + machine_.wall_offset_ns);
  EXPECT_EQ(events[0].reading(MetricId::event_code).u64(), 31u);
  EXPECT_EQ(events[0].reading(MetricId::event_device).u64(), machine_.gpu_slot(1));
  EXPECT_EQ(events[0].reading(MetricId::event_pid).u64(), 1142u);
  EXPECT_EQ(events[0].reading(MetricId::event_source).u64(),
            static_cast<std::uint64_t>(EventSource::kKernelLog));
  EXPECT_EQ(events[0].text(MetricId::event_text),
            "NVRM: Xid (PCI:0000:3b:00): 31, pid=1142, name=xid, channel 0x0000000a");
  // It was on no listing; its identity was taken all the same.
  ASSERT_EQ(machine_.identity_rows().size(), 1u);
  EXPECT_EQ(events[0].reading(MetricId::event_identity),
            machine_.identity_rows()[0].reading(MetricId::identity_key));
}

TEST_F(KernelWatchTest, TellsAtItsStartWhatCameWhileItWasDown) {
  const std::int64_t now_ns = machine_.now_ns;
  auto& heartbeat = machine_.recorder().part(recorder::Part::kHost).heartbeat_ns;
  heartbeat.store(static_cast<std::uint64_t>(now_ns - 100 * kSecondNs));
  say(now_ns - 200 * kSecondNs, "NVRM: Xid (PCI:0000:1b:00): 13, pid=1, name=old");
  say(now_ns - 50 * kSecondNs, "NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.");
  auto watch = machine_.open();
  watch->tick();
  const auto events = machine_.events(EventKind::kXid);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].reading(MetricId::event_code).u64(), 79u);
  EXPECT_EQ(events[0].time_ns, now_ns - 50 * kSecondNs);
  EXPECT_EQ(events[0].reading(MetricId::event_wall_ns).i64(),
            now_ns - 50 * kSecondNs + machine_.wall_offset_ns);
  EXPECT_EQ(events[0].state(MetricId::event_pid), State::kNotSupported);
}

TEST_F(KernelWatchTest, CountsTheSameFaultTwiceWhenASecondIsBetween) {
  auto watch = machine_.open();
  watch->tick();
  for (int i = 0; i < 2; ++i) {
    say(1, "NVRM: Xid (PCI:0000:1b:00): 48, DBE");
    watch->take_events();
    machine_.pass_seconds(1);
    watch->tick();
  }
  EXPECT_EQ(machine_.events(EventKind::kXid).size(), 2u);
}

TEST_F(KernelWatchTest, TellsAStormOfEqualLinesWithItsNumber) {
  auto watch = machine_.open();
  watch->tick();
  std::string storm;
  for (int i = 0; i < 10'000; ++i)
    storm += "4,1,1,-;NVRM: Xid (PCI:0000:1b:00): 45, pid=7, name=x\n";
  machine_.root.append("/dev/kmsg", storm);
  for (int i = 0; i < 4; ++i)
    watch->take_events();
  machine_.pass_seconds(1);
  watch->tick();
  machine_.pass_seconds(1);
  watch->tick();
  const auto events = machine_.events(EventKind::kXid);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].text(MetricId::event_text),
            "9999 times more: NVRM: Xid (PCI:0000:1b:00): 45, pid=7, name=x");
}

TEST_F(KernelWatchTest, TellsLossWithoutANumberAndAnUnknownGpu) {
  auto watch = machine_.open();
  watch->tick();
  say(1, "NVRM: GPU 0000:1b:00.0: GPU has fallen off the bus.");
  say(1, "NVRM: Xid (PCI:0000:ff:00): 79, GPU has fallen off the bus.");
  say(1, "nvidia-nvlink: link training failed on 0000:1b:00.0");
  say(1, "usb 1-1: nothing of ours");
  machine_.root.append("/dev/kmsg", "not a record\n");
  watch->take_events();
  const auto lost = machine_.events(EventKind::kGpuLost);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].reading(MetricId::event_device).u64(), machine_.gpu_slot(0));
  EXPECT_EQ(machine_.events(EventKind::kXid).at(0).state(MetricId::event_device),
            State::kNotSupported);
  EXPECT_EQ(machine_.events(EventKind::kKernelLine).size(), 1u);
}

TEST_F(KernelWatchTest, TellsAKillForMemoryOnlyOfGpuProcessesAndTheirChildren) {
  machine_.put(10, {.children = "11 "});
  machine_.put(11, {.parent = 10});
  machine_.list(0, {{10, 0}});
  auto watch = machine_.open();
  watch->tick();
  say(1, "Out of memory: Killed process 555 (chrome) total-vm:1kB");
  say(1, "Memory cgroup out of memory: Killed process 11 (python) total-vm:1kB");
  watch->take_events();
  const auto kills = machine_.events(EventKind::kOutOfMemory);
  ASSERT_EQ(kills.size(), 1u);
  EXPECT_EQ(kills[0].reading(MetricId::event_pid).u64(), 11u);
  EXPECT_EQ(kills[0].reading(MetricId::event_identity),
            machine_.identity_rows().at(0).reading(MetricId::identity_key));
}

TEST(KernelWatch, WaitsForTheGpusToBeKnown) {
  FakeMachine machine;
  machine.root.write("/dev/kmsg", "4,1,999000000,-;NVRM: Xid (PCI:0000:1b:00): 79, lost\n");
  auto watch = machine.open();
  watch->tick();
  EXPECT_TRUE(machine.events(EventKind::kXid).empty());
  machine.pass_seconds(5);
  machine.name_gpu(0, "0000:1b:00.0");
  watch->tick();
  const auto events = machine.events(EventKind::kXid);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].reading(MetricId::event_device).u64(), machine.gpu_slot(0));
  EXPECT_EQ(events[0].reading(MetricId::event_wall_ns).i64(),
            999 * kSecondNs + machine.wall_offset_ns);
}

TEST(KernelWatch, IsQuietWithoutALogAndTakesItUpLater) {
  FakeMachine machine;
  machine.name_gpu(0, "0000:1b:00.0");
  auto watch = machine.open();
  watch->tick();
  machine.root.write("/dev/kmsg", "4,1,999000000,-;NVRM: Xid (PCI:0000:1b:00): 79, lost\n");
  machine.pass_seconds(10);
  watch->tick();
  EXPECT_EQ(machine.events(EventKind::kXid).size(), 1u);
}

}  // namespace
}  // namespace everywatt::hostwatch
