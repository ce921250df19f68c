// SPDX-License-Identifier: Apache-2.0
#include "read/view/processes.h"

#include <gtest/gtest.h>

#include "read/view/host_use.h"
#include "read/view/view_fixture.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

struct Entry {
  std::uint64_t pid = 0;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> sm_ratio;
};

// One listing, as the sampler writes it: a row a process, or one row with count 0.
void add_listing(Machine& machine, std::int64_t time_ns, const std::vector<Entry>& entries,
                 std::size_t rows = 1'000'000) {
  for (std::size_t i = 0; i < std::max<std::size_t>(entries.size(), 1) && i < rows; ++i) {
    machine.add_gpu(0, Lane::kProcess, time_ns, [&](Row& row) {
      row.set(MetricId::process_index, std::uint64_t{i});
      row.set(MetricId::process_count, std::uint64_t{entries.size()});
      if (entries.empty()) return;
      const Entry& entry = entries[i];
      row.set(MetricId::process_pid, entry.pid);
      row.set(MetricId::process_identity, entry.pid * 1000);
      row.set(MetricId::process_type_mask, std::uint64_t{1});
      if (entry.memory_bytes) {
        row.set(MetricId::process_memory_bytes, *entry.memory_bytes);
      } else {
        row.set_absent(MetricId::process_memory_bytes, State::kNotSupported);
      }
      if (entry.sm_ratio) row.set(MetricId::process_sm_ratio, *entry.sm_ratio);
    });
  }
}

void add_memory(Machine& machine, std::int64_t time_ns, std::uint64_t used_bytes) {
  machine.add_gpu(0, Lane::kGauge, time_ns,
                  [&](Row& row) { row.set(MetricId::gpu_memory_used_bytes, used_bytes); });
}

TEST(Processes, AreListedByMemory) {
  Machine machine;
  add_listing(machine, 10 * kSecond, {{7, 1 * kGiB, {}}, {8, 5 * kGiB, 0.5}});
  const Listing listing = list_processes(*machine.view(), machine.gpu());
  ASSERT_TRUE(listing.is_known());
  ASSERT_EQ(listing.processes.size(), 2u);
  EXPECT_EQ(listing.processes[0].pid, 8u);
  EXPECT_EQ(listing.processes[0].memory_bytes, 5 * kGiB);
  EXPECT_EQ(listing.processes[0].sm_ratio, 0.5);
  EXPECT_EQ(listing.processes[0].type(), "compute");
  EXPECT_EQ(listing.processes[1].sm_ratio, std::nullopt);
}

TEST(Processes, AListingThatIsBeingWrittenIsNotShown) {
  Machine machine;
  add_listing(machine, 10 * kSecond, {{7, kGiB, {}}});
  add_listing(machine, 11 * kSecond, {{7, kGiB, {}}, {8, kGiB, {}}, {9, kGiB, {}}}, 2);
  const Listing listing = list_processes(*machine.view(11 * kSecond), machine.gpu());
  ASSERT_EQ(listing.processes.size(), 1u);
  EXPECT_EQ(listing.time_ns, 10 * kSecond);
}

TEST(Processes, AnEmptyListingIsKnownToBeEmpty) {
  Machine machine;
  add_listing(machine, 10 * kSecond, {});
  const Listing listing = list_processes(*machine.view(), machine.gpu());
  EXPECT_TRUE(listing.is_known());
  EXPECT_TRUE(listing.processes.empty());
}

// The driver refused the list: nobody knows who is there, and `free` must not offer the GPU.
TEST(Processes, AListingThatFailedIsUnknownAndNotEmpty) {
  Machine machine;
  add_listing(machine, 10 * kSecond, {{7, kGiB, {}}});
  machine.add_gpu(0, Lane::kProcess, 11 * kSecond,
                  [](Row& row) { row.set_all_absent(State::kNoPermission); });
  const Listing listing = list_processes(*machine.view(), machine.gpu());
  EXPECT_FALSE(listing.is_known());
  EXPECT_TRUE(listing.processes.empty());
}

TEST(Processes, NoListingOrAnOldOneIsUnknown) {
  Machine machine;
  EXPECT_FALSE(list_processes(*machine.view(kSecond), machine.gpu()).is_known());
  add_listing(machine, 10 * kSecond, {{7, kGiB, {}}});
  EXPECT_TRUE(list_processes(*machine.view(13 * kSecond), machine.gpu()).is_known());
  const Listing listing = list_processes(*machine.view(14 * kSecond), machine.gpu());
  EXPECT_FALSE(listing.is_known());
  EXPECT_TRUE(listing.processes.empty());
}

TEST(Processes, CanBeAskedForAnEarlierTime) {
  Machine machine;
  add_listing(machine, 10 * kSecond, {{7, kGiB, {}}});
  add_listing(machine, 11 * kSecond, {{8, kGiB, {}}});
  const Listing listing =
      list_processes(*machine.view(), machine.gpu(), Join::kAll, 10 * kSecond + 500 * kMs);
  ASSERT_EQ(listing.processes.size(), 1u);
  EXPECT_EQ(listing.processes[0].pid, 7u);
}

// Samples come each 5 s; one that is not renewed falls away instead of staying for ever.
TEST(Processes, ASampleStaysUntilTheNextIsDue) {
  Machine machine;
  add_listing(machine, 10 * kSecond, {{7, kGiB, 0.8}});
  for (int i = 11; i <= 17; ++i)
    add_listing(machine, i * kSecond, {{7, kGiB, {}}});
  const auto at = [&](int second) {
    return list_processes(*machine.view(second * kSecond), machine.gpu()).processes[0].sm_ratio;
  };
  EXPECT_EQ(at(15), 0.8);
  EXPECT_EQ(at(16), 0.8);
  EXPECT_EQ(at(17), std::nullopt);
}

// Managed memory belongs to no process: the gap is shown, never hidden.
TEST(Processes, MemoryOfNobodyIsUnattributed) {
  Machine machine;
  add_memory(machine, 10 * kSecond, 60 * kGiB);
  add_listing(machine, 10 * kSecond, {{7, 3 * kGiB, {}}, {8, 2 * kGiB, {}}});
  EXPECT_EQ(list_processes(*machine.view(), machine.gpu()).unattributed_bytes, 55 * kGiB);
}

TEST(Processes, ProcessesThatHoldMoreThanIsUsedLeaveNothing) {
  Machine machine;
  add_memory(machine, 10 * kSecond, 1 * kGiB);
  add_listing(machine, 10 * kSecond, {{7, 3 * kGiB, {}}});
  EXPECT_EQ(list_processes(*machine.view(), machine.gpu()).unattributed_bytes, 0u);
}

// A process that takes 6 GiB a second: its listing is older than the newest reading, and what the
// driver lists may be a second older still.
TEST(Processes, AGrowingProcessHoldsWhatItTookSinceItsListing) {
  Machine machine;
  for (std::uint64_t i = 0; i <= 25; ++i) {
    const std::int64_t time_ns = 10 * kSecond + static_cast<std::int64_t>(i) * 100 * kMs;
    add_memory(machine, time_ns, (10 + i * 6 / 10) * kGiB);
    if (i == 15) add_listing(machine, time_ns, {{7, 13 * kGiB, {}}});
  }
  const auto view = machine.view();
  EXPECT_EQ(list_processes(*view, machine.gpu()).unattributed_bytes, 0u);
}

TEST(Processes, MemoryIsComparedAsItWasWhenTheProcessesWereListed) {
  Machine machine;
  add_memory(machine, 10 * kSecond, 20 * kGiB);
  add_listing(machine, 10 * kSecond + 1, {{7, 3 * kGiB, {}}});
  add_memory(machine, 10 * kSecond + 100 * kMs, 60 * kGiB);
  EXPECT_EQ(list_processes(*machine.view(), machine.gpu()).unattributed_bytes, 17 * kGiB);
}

// Where the driver does not tell (WSL, some containers) a total would be a lie.
TEST(Processes, AProcessOfUnknownMemoryLeavesTheRestUnknown) {
  Machine machine;
  add_memory(machine, 10 * kSecond, 60 * kGiB);
  add_listing(machine, 10 * kSecond, {{7, {}, {}}, {8, 2 * kGiB, {}}});
  const Listing listing = list_processes(*machine.view(), machine.gpu());
  EXPECT_EQ(listing.unattributed_bytes, std::nullopt);
  EXPECT_EQ(listing.processes[1].pid, 7u);
  EXPECT_EQ(listing.processes[1].memory_bytes, std::nullopt);
}

TEST(Processes, OwnersAreFoundByKeySoThatAReusedPidIsNotMistaken) {
  Machine machine;
  const std::uint32_t node = machine.first(Scope::kNode);
  const auto add_identity = [&](std::int64_t time_ns, std::uint64_t key, const char* user) {
    machine.add(node, Scope::kNode, Lane::kIdentity, time_ns, [&](Row& row) {
      row.set(MetricId::identity_key, key);
      row.set(MetricId::identity_pid, std::uint64_t{7});
      row.set_text(MetricId::identity_user, user);
      row.set_text(MetricId::identity_command, "python train.py");
    });
  };
  add_identity(9 * kSecond, 7000, "anna");
  add_identity(20 * kSecond, 7001, "berta");
  add_listing(machine, 10 * kSecond, {{7, kGiB, {}}});
  const auto view = machine.view(10 * kSecond);
  const Listing listing = list_processes(*view, machine.gpu());
  ASSERT_TRUE(listing.processes[0].identity);
  EXPECT_EQ(listing.processes[0].identity->user, "anna");
  EXPECT_EQ(listing.processes[0].identity->command, "python train.py");
  EXPECT_EQ(list_processes(*view, machine.gpu(), Join::kDriverOnly).processes[0].identity,
            std::nullopt);
  EXPECT_EQ(find_identity_of_pid(*view, 7, 15 * kSecond)->user, "anna");
  EXPECT_EQ(find_identity_of_pid(*view, 7, 21 * kSecond)->user, "berta");
  EXPECT_EQ(find_identity_of_pid(*view, 7, 8 * kSecond), std::nullopt);
  EXPECT_EQ(find_identity(*view, 0), std::nullopt);
}

void add_host_process(Machine& machine, std::int64_t time_ns, std::uint64_t pid,
                      std::uint64_t identity, double cpu_seconds, std::uint64_t read_bytes) {
  machine.add(machine.first(Scope::kNode), Scope::kNode, Lane::kHostProcess, time_ns,
              [&](Row& row) {
                row.set(MetricId::host_process_pid, pid);
                row.set(MetricId::host_process_identity, identity);
                row.set(MetricId::host_process_state, std::uint64_t{'R'});
                row.set(MetricId::host_process_cpu_seconds_total, cpu_seconds);
                row.set(MetricId::host_process_children_cpu_seconds_total, cpu_seconds * 10);
                row.set(MetricId::host_process_read_bytes_total, read_bytes);
                row.set(MetricId::host_process_threads, std::uint64_t{3});
              });
}

TEST(HostUse, RatesAreOverTheLastTwoRows) {
  Machine machine;
  add_host_process(machine, 8 * kSecond, 7, 1, 0, 0);
  add_host_process(machine, 10 * kSecond, 7, 1, 100, 1000);
  add_host_process(machine, 12 * kSecond, 7, 1, 103, 5000);
  const auto uses = read_host_use(*machine.view(), 12 * kSecond);
  ASSERT_EQ(uses.size(), 1u);
  const HostUse& use = uses.at(7);
  EXPECT_EQ(use.state, 'R');
  EXPECT_EQ(use.threads, 3u);
  EXPECT_EQ(use.cpu_cores, 1.5);
  EXPECT_EQ(use.children_cpu_cores, 15);
  EXPECT_EQ(use.read_bytes_per_second, 2000);
  EXPECT_EQ(use.written_bytes_per_second, std::nullopt);
  EXPECT_EQ(use.resident_bytes, std::nullopt);
}

TEST(HostUse, ThereIsNoRateOverTwoProcessesOfOnePid) {
  Machine machine;
  add_host_process(machine, 10 * kSecond, 7, 1, 100, 1000);
  add_host_process(machine, 12 * kSecond, 7, 2, 103, 5000);
  EXPECT_EQ(read_host_use(*machine.view(), 12 * kSecond).at(7).cpu_cores, std::nullopt);
}

TEST(HostUse, WhatIsOlderThanThirtySecondsIsGone) {
  Machine machine;
  add_host_process(machine, 10 * kSecond, 7, 1, 100, 1000);
  EXPECT_EQ(read_host_use(*machine.view(40 * kSecond), 40 * kSecond).size(), 1u);
  EXPECT_TRUE(read_host_use(*machine.view(41 * kSecond), 41 * kSecond).empty());
}

// Who writes the driver's listing knows pids alone.
TEST(Processes, AnOwnerThatTheDriverDoesNotNameIsFoundThroughTheHost) {
  Machine machine;
  add_host_process(machine, 10 * kSecond, 7, 7000, 100, 1000);
  machine.add(machine.first(Scope::kNode), Scope::kNode, Lane::kIdentity, 9 * kSecond,
              [](Row& row) {
                row.set(MetricId::identity_key, std::uint64_t{7000});
                row.set_text(MetricId::identity_user, "anna");
              });
  machine.add_gpu(0, Lane::kProcess, 10 * kSecond, [](Row& row) {
    row.set(MetricId::process_index, std::uint64_t{0});
    row.set(MetricId::process_count, std::uint64_t{1});
    row.set(MetricId::process_pid, std::uint64_t{7});
  });
  const Listing listing = list_processes(*machine.view(), machine.gpu());
  ASSERT_TRUE(listing.processes.at(0).identity);
  EXPECT_EQ(listing.processes[0].identity->user, "anna");
  EXPECT_EQ(listing.processes[0].identity_key, 7000u);
}

TEST(Processes, WhatTheOsSaysIsJoinedByPid) {
  Machine machine;
  add_host_process(machine, 9 * kSecond, 7, 1, 100, 1000);
  add_host_process(machine, 10 * kSecond, 7, 1, 101, 1000);
  add_listing(machine, 10 * kSecond, {{7, kGiB, {}}, {9, kGiB, {}}});
  const Listing listing = list_processes(*machine.view(), machine.gpu());
  ASSERT_TRUE(listing.processes[0].host);
  EXPECT_EQ(listing.processes[0].host->cpu_cores, 1.0);
  EXPECT_FALSE(listing.processes[1].host);
}

}  // namespace
}  // namespace everywatt::view
