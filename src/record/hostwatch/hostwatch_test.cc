// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/hostwatch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "record/hostwatch/fake_machine.h"

namespace everywatt::hostwatch {
namespace {

using catalog::EventKind;
using catalog::Lane;
using catalog::MetricId;
using catalog::Scope;
using catalog::State;

TEST(Hostwatch, WritesTheMachineEachTick) {
  FakeMachine machine;
  machine.root.write("/proc/stat", "cpu 100 200 300 400 500 60 70 80\ncpu0 1 1 1 1\n");
  machine.root.write("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n");
  machine.root.write("/proc/loadavg", "0.50 1.00 2.00 1/2 3\n");
  machine.root.write("/proc/pressure/io",
                     "some avg10=0 total=2500000\nfull avg10=0 total=1000000\n");
  machine.root.write("/proc/sys/kernel/hostname", "node7\n");
  auto watch = machine.open();
  watch->tick();
  machine.pass_seconds(1);
  watch->tick();
  const auto rows = machine.node_rows(Lane::kHost);
  ASSERT_EQ(rows.size(), 2u);
  const catalog::Row& row = rows[1];
  EXPECT_EQ(row.time_ns, machine.now_ns);
  EXPECT_EQ(row.reading(MetricId::host_cpu_user_seconds_total).f64(), 1.0);
  EXPECT_EQ(row.reading(MetricId::host_cpu_steal_seconds_total).f64(), 0.8);
  EXPECT_EQ(row.reading(MetricId::host_cpus).u64(), 1u);
  EXPECT_EQ(row.reading(MetricId::host_memory_available_bytes).u64(), 614400u);
  EXPECT_EQ(row.reading(MetricId::host_load5).f64(), 1.0);
  EXPECT_EQ(row.reading(MetricId::host_pressure_io_full_seconds_total).f64(), 1.0);
  EXPECT_EQ(row.state(MetricId::host_pressure_cpu_some_seconds_total), State::kNotSupported);
  EXPECT_EQ(row.reading(MetricId::host_uptime_seconds).f64(), 1000.0);
  const auto once = machine.node_rows(Lane::kOnce);
  ASSERT_EQ(once.size(), 1u);
  EXPECT_EQ(once[0].text(MetricId::host_name), "node7");
  EXPECT_EQ(once[0].state(MetricId::host_os), State::kNotSupported);
}

TEST(Hostwatch, LetsABadFileCostItsOwnMetricsOnly) {
  FakeMachine machine;
  machine.root.write("/proc/stat", "garbage\n");
  machine.root.write("/proc/loadavg", "0.50 1.00 2.00 1/2 3\n");
  auto watch = machine.open();
  watch->tick();
  const catalog::Row row = machine.node_rows(Lane::kHost).at(0);
  EXPECT_EQ(row.state(MetricId::host_cpu_user_seconds_total), State::kFailed);
  EXPECT_EQ(row.state(MetricId::host_memory_total_bytes), State::kNotSupported);
  EXPECT_EQ(row.state(MetricId::host_load1), State::kOk);
}

constexpr const char* kDisks =
    " 8 0 sda 1 0 2 0 3 0 4 0 0 5 0\n 8 1 sda1 1 0 2 0 3 0 4 0 0 5 0\n"
    " 8 16 sdb 10 0 20 0 30 0 40 0 0 50 0\n";

TEST(Hostwatch, GivesDisksSlotsThatTheyKeep) {
  FakeMachine machine;
  machine.root.write("/proc/diskstats", kDisks);
  machine.open()->tick();
  const auto slots = machine.recorder().slots(Scope::kDisk);
  EXPECT_EQ(machine.rows(slots[1], Scope::kDisk, Lane::kOnce).at(0).text(MetricId::host_disk_name),
            "sdb");
  EXPECT_EQ(machine.rows(slots[1], Scope::kDisk, Lane::kHost)
                .at(0)
                .reading(MetricId::host_disk_read_bytes_total)
                .u64(),
            20u * 512);
  EXPECT_EQ(machine.reader().device(slots[1]).status, recorder::DeviceStatus::kOk);

  // After a restart of ours, and without the first one; a third finds no slot.
  machine.root.write("/proc/diskstats",
                     " 8 16 sdb 11 0 21 0 30 0 40 0 0 50 0\n 8 32 sdc 1 0 2 0 3 0 4 0 0 5 0\n");
  machine.pass_seconds(1);
  machine.open()->tick();
  EXPECT_EQ(machine.rows(slots[1], Scope::kDisk, Lane::kHost).size(), 2u);
  EXPECT_EQ(machine.rows(slots[1], Scope::kDisk, Lane::kOnce).size(), 1u);
  EXPECT_EQ(machine.reader().device(slots[0]).status, recorder::DeviceStatus::kGone);
}

TEST(Hostwatch, WritesInterfacesAndInfinibandPorts) {
  FakeMachine machine;
  machine.root.write("/proc/1/net/dev", "eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n");
  const std::string port = "/sys/class/infiniband/mlx5_0/ports/1";
  machine.root.write(port + "/state", "4: ACTIVE\n");
  machine.root.write(port + "/counters/port_rcv_data", "10\n");
  machine.open()->tick();
  const auto interface =
      machine.rows(machine.recorder().slots(Scope::kInterface)[0], Scope::kInterface, Lane::kHost);
  ASSERT_EQ(interface.size(), 1u);
  EXPECT_EQ(interface[0].reading(MetricId::host_interface_transmit_drops_total).u64(), 8u);
  const auto ports = machine.rows(machine.recorder().slots(Scope::kInfiniband)[0],
                                  Scope::kInfiniband, Lane::kHost);
  ASSERT_EQ(ports.size(), 1u);
  EXPECT_EQ(ports[0].reading(MetricId::host_infiniband_receive_bytes_total).u64(), 40u);
  EXPECT_EQ(ports[0].state(MetricId::host_infiniband_rate_bytes_per_second), State::kNotSupported);
}

TEST(Hostwatch, KeepsTheWallOffsetAndTellsSteps) {
  FakeMachine machine;
  auto watch = machine.open();
  watch->tick();
  EXPECT_EQ(machine.reader().wall_offset_ns(), machine.wall_offset_ns);
  machine.wall_offset_ns += 400'000'000;  // steered, not set
  machine.pass_seconds(1);
  watch->tick();
  EXPECT_EQ(machine.reader().wall_offset_ns(), machine.wall_offset_ns);
  machine.wall_offset_ns -= 3'600'000'000'000;
  machine.pass_seconds(1);
  watch->tick();
  const auto steps = machine.events(EventKind::kClockStep);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].reading(MetricId::event_code).i64(), -3'600'000);
  EXPECT_EQ(steps[0].text(MetricId::event_text), "the wall clock jumped by -3600.000 s");
}

TEST(Hostwatch, ShowsWhatOurOwnProcessesCost) {
  FakeMachine machine;
  machine.recorder()
      .part(recorder::Part::kServer)
      .pid.store(static_cast<std::uint64_t>(::getpid()));
  recorder::PartSlot& supervisor = machine.recorder().part(recorder::Part::kSupervisor);
  supervisor.pid.store(static_cast<std::uint64_t>(::getpid()));
  supervisor.unkillable.store(2);
  auto watch = machine.open();
  for (int second = 0; second < 4; ++second) {
    watch->tick();
    machine.pass_seconds(1);
  }
  const auto of_supervisor = machine.part_rows(recorder::Part::kSupervisor, Lane::kPart);
  ASSERT_FALSE(of_supervisor.empty());
  EXPECT_EQ(of_supervisor[0].reading(MetricId::everywatt_unkillable_processes).u64(), 2u);
  const auto rows = machine.part_rows(recorder::Part::kServer, Lane::kPart);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].reading(MetricId::everywatt_process_pid).u64(),
            static_cast<std::uint64_t>(::getpid()));
  EXPECT_EQ(rows[0].state(MetricId::everywatt_unkillable_processes), State::kNotSupported);
  EXPECT_GE(rows[0].reading(MetricId::everywatt_process_threads).u64(), 1u);
  EXPECT_GT(rows[0].reading(MetricId::everywatt_process_open_files).u64(), 3u);
  EXPECT_EQ(rows[0].state(MetricId::everywatt_process_proportional_bytes), State::kNotRead);
  EXPECT_GT(rows[3].reading(MetricId::everywatt_process_proportional_bytes).u64(), 100'000u);
  EXPECT_EQ(rows[3].state(MetricId::everywatt_process_recorder_proportional_bytes), State::kOk);
  EXPECT_TRUE(machine.part_rows(recorder::Part::kSampler, Lane::kPart).empty());
}

TEST(Hostwatch, CountsItsOwnWork) {
  FakeMachine machine;
  auto watch = machine.open();
  watch->tick();
  const auto rows = machine.part_rows(recorder::Part::kHost, Lane::kSampling);
  ASSERT_EQ(rows.size(), 1u);
  const auto lane = static_cast<unsigned>(Lane::kHost);
  EXPECT_EQ(rows[0].state(MetricId::everywatt_lane_cpu_seconds_total, lane), State::kOk);
  EXPECT_EQ(rows[0].state(MetricId::everywatt_driver_calls_total), State::kNotSupported);
  EXPECT_EQ(rows[0].reading(MetricId::everywatt_lost_events_total).u64(), 0u);
  EXPECT_EQ(machine.reader().part(recorder::Part::kHost).heartbeat_ns.load(),
            static_cast<std::uint64_t>(machine.now_ns));
}

TEST(Hostwatch, WatchesOnceForACommand) {
  FakeMachine machine;
  machine.put(10, {});
  machine.list(0, {{10, 0}});
  ASSERT_TRUE(watch_once(machine.options(), machine.recorder(), machine.identities()).has_value());
  EXPECT_EQ(machine.identity_rows().size(), 1u);
  EXPECT_EQ(machine.last_listing().size(), 1u);
}

TEST(Hostwatch, SaysWhichFileLacksItsRings) {
  FakeMachine machine;
  auto watch = Hostwatch::open(machine.options(), machine.recorder(), machine.recorder());
  ASSERT_FALSE(watch.has_value());
  EXPECT_EQ(watch.error().code, base::Code::kNotFound);
}

TEST(Hostwatch, StopsAtOnceWhenAsked) {
  FakeMachine machine;
  Options options = machine.options();
  options.boottime = base::boottime_ns;
  options.period_ns = 3'600'000'000'000;
  auto watch = machine.open(std::move(options));
  base::Status status;
  const std::int64_t start_ns = base::boottime_ns();
  {
    std::jthread thread([&](std::stop_token stop) { status = watch->run(stop); });
    thread.request_stop();
  }
  EXPECT_TRUE(status.has_value());
  EXPECT_LT(base::boottime_ns() - start_ns, 1'000'000'000);
}

}  // namespace
}  // namespace everywatt::hostwatch
