// SPDX-License-Identifier: Apache-2.0
#include "device/host/machine.h"

#include <gtest/gtest.h>

#include "device/host/machine_identity.h"

namespace everywatt::host {
namespace {

TEST(CpuTime, IsTheSumOfAllCpusInSeconds) {
  const auto time = parse_cpu_time(
      "cpu  1000 200 300 40000 500 60 70 80 90 10\n"
      "cpu0 500 100 150 20000 250 30 35 40 45 5\n"
      "cpu1 500 100 150 20000 250 30 35 40 45 5\n"
      "intr 1 2 3\nctxt 4\nbtime 5\nprocesses 1234\nprocs_running 1\n");
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->user_seconds, 10.0);
  EXPECT_EQ(time->nice_seconds, 2.0);
  EXPECT_EQ(time->system_seconds, 3.0);
  EXPECT_EQ(time->idle_seconds, 400.0);
  EXPECT_EQ(time->iowait_seconds, 5.0);
  EXPECT_EQ(time->irq_seconds, 0.6);
  EXPECT_EQ(time->softirq_seconds, 0.7);
  EXPECT_EQ(time->steal_seconds, 0.8);
  EXPECT_EQ(time->cpus, 2u);
  EXPECT_EQ(time->forks, 1234u);
}

TEST(CpuTime, OfAnOldKernelLacksTheLaterColumns) {
  const auto time = parse_cpu_time("cpu  100 0 200 300\n");
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->idle_seconds, 3.0);
  EXPECT_EQ(time->steal_seconds, 0.0);
}

TEST(CpuTime, IsCorruptWithoutItsLine) {
  EXPECT_EQ(parse_cpu_time("").error().code, base::Code::kCorrupt);
  EXPECT_EQ(parse_cpu_time("cpu 1 x 3 4\n").error().code, base::Code::kCorrupt);
  EXPECT_EQ(parse_cpu_time("cpu0 1 2 3 4\n").error().code, base::Code::kCorrupt);
}

TEST(Memory, IsInBytes) {
  const auto memory = parse_memory(
      "MemTotal:       1000 kB\nMemFree:         200 kB\nMemAvailable:    700 kB\n"
      "Buffers:          10 kB\nCached:          300 kB\nSwapCached:        7 kB\n"
      "SwapTotal:        50 kB\nSwapFree:         40 kB\nShmem:            20 kB\n");
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->total_bytes, 1024000u);
  EXPECT_EQ(memory->free_bytes, 204800u);
  EXPECT_EQ(memory->available_bytes, 716800u);
  EXPECT_EQ(memory->cached_bytes, 307200u);
  EXPECT_EQ(memory->shared_bytes, 20480u);
  EXPECT_EQ(memory->swap_total_bytes, 51200u);
  EXPECT_EQ(memory->swap_free_bytes, 40960u);
}

TEST(Memory, OfAnOldKernelIsAvailableWhereFreeOrCached) {
  const auto memory = parse_memory("MemTotal: 10 kB\nMemFree: 2 kB\nCached: 3 kB\n");
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->available_bytes, 5120u);
  EXPECT_FALSE(parse_memory("MemFree: 2 kB\n").has_value());
}

TEST(Load, IsThreeNumbers) {
  const auto load = parse_load("0.52 1.25 2.00 3/456 7890\n");
  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(load->minutes_1, 0.52);
  EXPECT_EQ(load->minutes_5, 1.25);
  EXPECT_EQ(load->minutes_15, 2.0);
  EXPECT_FALSE(parse_load("0.52 1.25\n").has_value());
  EXPECT_FALSE(parse_load("nan 1 2\n").has_value());
}

TEST(Pressure, IsTheTotalInSeconds) {
  const auto pressure = parse_pressure(
      "some avg10=4.34 avg60=1.61 avg300=1.89 total=37731881\n"
      "full avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n");
  ASSERT_TRUE(pressure.has_value());
  EXPECT_DOUBLE_EQ(pressure->some_seconds, 37.731881);
  EXPECT_EQ(pressure->full_seconds, 0.5);
}

TEST(Pressure, OfTheCpuHasNoFullLineOnOldKernels) {
  const auto pressure = parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  ASSERT_TRUE(pressure.has_value());
  EXPECT_FALSE(pressure->full_seconds.has_value());
  EXPECT_FALSE(parse_pressure("some avg10=0.00\n").has_value());
}

TEST(Uptime, IsTheFirstNumber) {
  EXPECT_EQ(parse_uptime("350735.47 234388.90\n").value(), 350735.47);
  EXPECT_FALSE(parse_uptime("\n").has_value());
}

TEST(BootId, IsAUuid) {
  EXPECT_EQ(parse_boot_id("fa21fa22-425a-9bce-6acf-c81b00d04524\n").value(),
            "fa21fa22-425a-9bce-6acf-c81b00d04524");
  EXPECT_FALSE(parse_boot_id("not a boot id").has_value());
}

TEST(MachineIdentity, ReadsNamesForPeople) {
  EXPECT_EQ(parse_os_release("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(parse_os_release("ID=debian\n"), "");
  EXPECT_EQ(parse_cpu_model("processor\t: 0\nmodel name\t: Xeon 8480C\n\nprocessor\t: 1\n"),
            "Xeon 8480C");
}

}  // namespace
}  // namespace everywatt::host
