// SPDX-License-Identifier: Apache-2.0
#include "read/view/readiness.h"

#include <gtest/gtest.h>

#include "read/view/idle.h"
#include "read/view/view_fixture.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

void add_host(Machine& machine, std::int64_t time_ns) {
  machine.add(machine.first(Scope::kNode), Scope::kNode, Lane::kHost, time_ns,
              [](Row& row) { row.set(MetricId::host_load1, 0.5); });
}

TEST(Readiness, FreshReadingsOfEverythingAreReady) {
  Machine machine({.gpus = 2});
  add_host(machine, 10 * kSecond);
  machine.add_power(0, 10 * kSecond, 1);
  machine.add_power(1, 10 * kSecond, 1);
  EXPECT_TRUE(find_not_ready(*machine.view()).empty());
}

TEST(Readiness, EachGpuWithoutFreshReadingsIsNamed) {
  Machine machine({.gpus = 3});
  add_host(machine, 20 * kSecond);
  machine.add_power(0, 20 * kSecond, 1);
  machine.add_power(1, 10 * kSecond, 1);
  const auto found = find_not_ready(*machine.view(20 * kSecond));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].what, "GPU 1");
  EXPECT_EQ(found[0].since_ns, 10 * kSecond);
  EXPECT_EQ(found[0].reason, "no good gauge reading for 10.0 s");
  EXPECT_EQ(found[1].what, "GPU 2");
  EXPECT_EQ(found[1].reason, "no good gauge reading yet");
}

// Rows that go on while every reading in them fails are not fresh data.
TEST(Readiness, RowsThatHoldReasonsAloneAreNotFresh) {
  Machine machine;
  add_host(machine, 20 * kSecond);
  machine.add_power(0, 10 * kSecond, 1);
  for (int i = 1; i <= 100; ++i) {
    machine.add_gpu(0, Lane::kGauge, 10 * kSecond + i * 100 * kMs,
                    [](Row& row) { row.set_all_absent(State::kFailed); });
  }
  const auto found = find_not_ready(*machine.view());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].since_ns, 10 * kSecond);
}

TEST(Readiness, AStatusIsTheReason) {
  Machine machine({.gpus = 2});
  add_host(machine, 10 * kSecond);
  machine.add_power(0, 10 * kSecond, 1);
  machine.file().set_status(machine.gpu(1), recorder::DeviceStatus::kTimedOut, 9 * kSecond);
  auto found = find_not_ready(*machine.view());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason, "timed_out");
  EXPECT_EQ(found[0].since_ns, 9 * kSecond);
  machine.file().set_status(machine.gpu(1), recorder::DeviceStatus::kDrained, 9 * kSecond);
  EXPECT_TRUE(find_not_ready(*machine.view()).empty());
}

TEST(Readiness, AMachineWithoutAGpuOrWithoutItsHostProcessSaysSo) {
  Machine machine({.gpus = 0});
  const auto found = find_not_ready(*machine.view(kSecond));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].what, "GPUs");
  EXPECT_EQ(found[1].what, "machine");
  EXPECT_EQ(found[1].reason, "no good host reading yet");
}

TEST(LastGood, FollowsAFileAndAReplayThatGoesBack) {
  Machine machine;
  const auto add_bad = [&](std::int64_t time_ns) {
    machine.add_gpu(0, Lane::kGauge, time_ns, [](Row& row) { row.set_all_absent(State::kFailed); });
  };
  LastGood last_good;
  const auto at = [&](std::int64_t now_ns) {
    return last_good.time_ns(*machine.view(now_ns), machine.gpu(), Lane::kGauge);
  };
  EXPECT_EQ(at(5 * kSecond), 0);
  machine.add_power(0, 10 * kSecond, 1);
  EXPECT_EQ(at(10 * kSecond), 10 * kSecond);
  for (int i = 11; i < 2000; ++i)
    add_bad(i * kSecond);
  EXPECT_EQ(at(1000 * kSecond), 10 * kSecond);
  EXPECT_EQ(at(2000 * kSecond), 10 * kSecond);
  machine.add_power(0, 2000 * kSecond, 1);
  EXPECT_EQ(at(2000 * kSecond), 2000 * kSecond);
  EXPECT_EQ(at(100 * kSecond), 10 * kSecond);
}

class Idle : public ::testing::Test {
 protected:
  void add_gauge(unsigned gpu, std::int64_t time_ns, double utilization, std::uint64_t used_bytes) {
    machine.add_gpu(gpu, Lane::kGauge, time_ns, [&](Row& row) {
      row.set(MetricId::gpu_utilization_ratio, utilization);
      row.set(MetricId::gpu_memory_used_bytes, used_bytes);
      row.set(MetricId::gpu_memory_free_bytes, (std::uint64_t{140} << 30) - used_bytes);
    });
  }
  void add_count(unsigned gpu, std::uint64_t count) {
    machine.add_gpu(gpu, Lane::kProcess, 20 * kSecond, [&](Row& row) {
      row.set(MetricId::process_index, std::uint64_t{0});
      row.set(MetricId::process_count, count);
      row.set(MetricId::process_pid, std::uint64_t{7});
    });
  }
  std::vector<std::uint32_t> idle(const IdleOptions& options = {}) {
    std::vector<std::uint32_t> found;
    for (const Device& gpu : find_idle(*machine.view(20 * kSecond), options)) {
      found.push_back(gpu.index);
    }
    return found;
  }
  Machine machine{{.gpus = 5}};
};

TEST_F(Idle, NeedsNoProcessLittleMemoryAndAQuietWindow) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  add_gauge(0, 20 * kSecond, 0, 0);
  add_count(0, 0);
  add_gauge(1, 20 * kSecond, 0, 0);  // a process holds it
  add_count(1, 1);
  add_gauge(2, 20 * kSecond, 0, 3 * kGiB);  // memory of nobody that is listed
  add_count(2, 0);
  add_gauge(3, 15 * kSecond, 0.5, 0);  // worked 5 s ago
  add_gauge(3, 20 * kSecond, 0, 0);
  add_count(3, 0);
  add_gauge(4, 20 * kSecond, 0, 0);  // never listed
  EXPECT_EQ(idle(), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(idle({.free_at_least_bytes = 139 * kGiB}), (std::vector<std::uint32_t>{0}));
  EXPECT_TRUE(idle({.free_at_least_bytes = 141 * kGiB}).empty());
  EXPECT_EQ(idle({.window_ns = 2 * kSecond}), (std::vector<std::uint32_t>{0, 3}));
}

TEST_F(Idle, WhatIsNotKnownIsNotIdle) {
  add_gauge(0, 10 * kSecond, 0, 0);  // stale
  add_count(0, 0);
  add_gauge(1, 20 * kSecond, 0, 0);
  add_count(1, 0);
  machine.file().set_status(machine.gpu(1), recorder::DeviceStatus::kLost, 19 * kSecond);
  EXPECT_TRUE(idle().empty());
}

TEST(IdleMig, InstancesStandForTheirGpu) {
  Machine machine({.gpus = 1, .migs_per_gpu = 1});
  const std::uint32_t mig = machine.mig(0, 0);
  machine.file().set_status(mig, recorder::DeviceStatus::kOk, kSecond);
  for (const std::uint32_t slot : {machine.gpu(), mig}) {
    machine.add(slot, Scope::kGpu, Lane::kGauge, 20 * kSecond, [](Row& row) {
      row.set(MetricId::gpu_memory_used_bytes, std::uint64_t{0});
      row.set_absent(MetricId::gpu_utilization_ratio, State::kNotSupported);
    });
    machine.add(slot, Scope::kGpu, Lane::kGpm, 20 * kSecond,
                [](Row& row) { row.set_all_absent(State::kNotSupported); });
    machine.add(slot, Scope::kGpu, Lane::kProcess, 20 * kSecond,
                [](Row& row) { row.set(MetricId::process_count, std::uint64_t{0}); });
  }
  const auto found = find_idle(*machine.view());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is_mig());
}

TEST(IdleMig, SplitGpuWithoutInstancesIsOfNoUse) {
  Machine machine({.gpus = 1, .migs_per_gpu = 1});
  machine.add_gpu(0, Lane::kGauge, 20 * kSecond, [](Row& row) {
    row.set(MetricId::gpu_memory_used_bytes, std::uint64_t{0});
    row.set_absent(MetricId::gpu_utilization_ratio, State::kNotSupported);
  });
  machine.add_gpu(0, Lane::kGpm, 20 * kSecond,
                  [](Row& row) { row.set_all_absent(State::kNotSupported); });
  machine.add_gpu(0, Lane::kProcess, 20 * kSecond,
                  [](Row& row) { row.set(MetricId::process_count, std::uint64_t{0}); });
  for (const std::uint64_t mode : {1, 0}) {
    machine.add_gpu(0, Lane::kSlow, 20 * kSecond,
                    [mode](Row& row) { row.set(MetricId::gpu_mig_mode, mode); });
    EXPECT_EQ(find_idle(*machine.view()).empty(), mode == 1);
  }
}

}  // namespace
}  // namespace everywatt::view
