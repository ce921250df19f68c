// SPDX-License-Identifier: Apache-2.0
//
// Every call of the system fails in turn. Only what comes from the file that it was about is
// absent, nothing is left open, and the next tick is as if nothing had been.
#include "base/failing_calls.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "record/hostwatch/fake_machine.h"

namespace everywatt::hostwatch {
namespace {

using base::FailingCall;
using base::SystemCall;
using catalog::Lane;
using catalog::MetricId;
using catalog::Scope;
using catalog::State;

// A file, and the beginnings of the names of the metrics that its failure may cost.
struct Source {
  std::string_view file;
  std::vector<std::string_view> metrics;
};
const Source kSources[] = {
    {"/proc/stat", {"host_cpu"}},
    {"/proc/meminfo", {"host_memory_", "host_swap_"}},
    {"/proc/loadavg", {"host_load"}},
    {"/proc/uptime", {"host_uptime_"}},
    {"/proc/sys/fs/file-nr", {"host_open_files"}},
    {"/proc/pressure/", {"host_pressure_"}},
    {"/proc/self/mountinfo", {"host_shm_", "host_process_shm_"}},
    {"/dev/shm", {"host_shm_", "host_process_shm_"}},
    {"/proc/diskstats", {"host_disk_"}},
    {"/proc/net/dev", {"host_interface_"}},
    {"/proc/1/net/dev", {"host_interface_"}},
    {"/sys/class/infiniband", {"host_infiniband_"}},
    {"/cgroup", {"host_process_cgroup_"}},
    {"/proc/10", {"host_process_"}},
    {"/proc/11", {"host_process_"}},
    {"/proc", {"host_process_"}},
    {"/etc/", {}},
    {"/dev/kmsg", {}},
};

bool may_cost(const std::string& path, std::string_view metric) {
  if (path.empty()) return false;
  bool is_known = false;
  for (const Source& source : kSources) {
    if (path.find(source.file) == std::string::npos) continue;
    is_known = true;
    for (const std::string_view start : source.metrics) {
      if (metric.starts_with(start)) return true;
    }
  }
  EXPECT_TRUE(is_known) << "no metrics are known to come from " << path;
  return false;
}

struct Cell {
  std::string_view name;
  State state{};
  std::uint64_t bits = 0;
};

// The last rows of all that is watched, cell by cell; a row that was not written has none.
std::map<std::string, Cell> cells_of(FakeMachine& machine) {
  std::map<std::string, Cell> cells;
  const auto add = [&](const std::string& where, const catalog::Row& row) {
    for (const catalog::Metric& metric : catalog::metrics()) {
      if (metric.scope != row.scope() || metric.lane != row.lane()) continue;
      if (metric.type == catalog::Type::kText) continue;
      const auto id = *catalog::metric_by_name(metric.name);
      cells[where + std::string(metric.name)] = {metric.name, row.state(id), row.reading(id).bits};
    }
  };
  std::size_t number = 0;
  for (const catalog::Row& row : machine.last_listing())
    add("process " + std::to_string(number++) + " ", row);
  add("node ", machine.node_rows(Lane::kHost).back());
  for (const Scope scope : {Scope::kDisk, Scope::kInterface}) {
    for (const std::uint32_t slot : machine.recorder().slots(scope)) {
      const auto rows = machine.rows(slot, scope, Lane::kHost);
      if (!rows.empty() && rows.back().time_ns == machine.now_ns) {
        add("slot " + std::to_string(slot) + " ", rows.back());
      }
    }
  }
  return cells;
}

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

class HostwatchFailingCallsTest : public testing::Test {
 protected:
  HostwatchFailingCallsTest() {
    const auto& root = machine_.root;
    root.write("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\nMemFree: 5 kB\n");
    root.write("/proc/loadavg", "0.50 1.00 2.00 1/2 3\n");
    root.write("/proc/sys/fs/file-nr", "100 0 1000\n");
    root.write("/proc/sys/kernel/hostname", "node7\n");
    for (const char* one : {"cpu", "io", "memory"}) {
      root.write(std::string("/proc/pressure/") + one,
                 "some avg10=0 total=2500000\nfull avg10=0 total=1000000\n");
    }
    root.write("/proc/diskstats", " 8 0 sda 1 0 2 0 3 0 4 0 0 5 0\n");
    root.write("/proc/net/dev", " eth0: 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0\n");
    root.write("/dev/kmsg", "");
    machine_.put(10, {.children = "11"});
    machine_.put(11, {.parent = 10, .user_ticks = 700, .start_ticks = 50'001});
    machine_.list(0, {{10, 1000}});
  }

  void tick(Hostwatch& watch) {
    machine_.pass_seconds(61);
    machine_.list(0, {{10, 1000}});
    watch.tick();
  }

  // What `failing` cost beyond what it may.
  void compare(const std::map<std::string, Cell>& healthy, const std::map<std::string, Cell>& now,
               const std::string& path, int error, const std::string& where) {
    for (const auto& [name, cell] : healthy) {
      const auto found = now.find(name);
      const bool is_there = found != now.end();
      if (is_there && found->second.state == cell.state && found->second.bits == cell.bits)
        continue;
      EXPECT_TRUE(may_cost(path, cell.name))
          << where << " of " << path << ": " << name << " " << cell.bits << " "
          << (is_there ? catalog::state_name(found->second.state) : "no row") << " "
          << (is_there ? found->second.bits : 0);
      if (!is_there) continue;
      // Sums go on, and what is not there has a reason that fits.
      const State state = found->second.state;
      const bool fits = state == State::kOk || state == State::kNotRead ||
                        state == (error == EACCES ? State::kNoPermission : State::kFailed) ||
                        state == State::kNotSupported;
      EXPECT_TRUE(fits) << where << ": " << name << " is " << catalog::state_name(state);
      if (state == State::kOk && name.ends_with("_total")) {
        EXPECT_GE(found->second.bits, cell.bits) << where << ": " << name << " fell";
      }
    }
  }

  FakeMachine machine_;
};

// The kernel's files are never cut in the middle of a line, nor empty for a moment.
bool is_plausible(int error) {
  return error != base::kShort && error != base::kEnd;
}

TEST_F(HostwatchFailingCallsTest, AnyCallOfATickMayFail) {
  auto watch = machine_.open();
  tick(*watch);
  tick(*watch);
  const auto healthy = cells_of(machine_);
  const std::size_t files_before = open_files();
  unsigned rounds = 0;
  for (std::size_t number = 0; number < std::size(base::kSystemCallNames); ++number) {
    const auto call = static_cast<SystemCall>(number);
    if (call == SystemCall::kWrite) continue;  // the log's
    for (const int error : base::plausible_errors(call)) {
      if (!is_plausible(error)) continue;
      for (unsigned nth = 1;; ++nth) {
        const auto where =
            fmt::format("call {} of {} with {}", nth, base::system_call_name(call), error);
        std::string path;
        machine_.pass_seconds(61);
        machine_.list(0, {{10, 1000}});
        {
          FailingCall failing(call, nth, error);
          watch->tick();
          if (!failing.was_hit()) break;
          path = failing.path();
        }
        ++rounds;
        compare(healthy, cells_of(machine_), path, error, where);
        tick(*watch);
        compare(healthy, cells_of(machine_), "", 0, where + ", the tick after it");
        EXPECT_EQ(open_files(), files_before) << where;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(rounds, 100U);
}

TEST_F(HostwatchFailingCallsTest, AnyCallOfTheFirstTickMayFail) {
  unsigned rounds = 0;
  for (const SystemCall call : {SystemCall::kOpen, SystemCall::kPread, SystemCall::kFcntl,
                                SystemCall::kMmap, SystemCall::kFallocate, SystemCall::kFstat}) {
    // One error stands for all: making a machine takes its time. A right that is missing once is
    // missing for good, so what a capture may not read stays absent.
    for (const int error : base::plausible_errors(call).first(1)) {
      for (unsigned nth = 1;; ++nth) {
        const auto where =
            fmt::format("call {} of {} with {}", nth, base::system_call_name(call), error);
        const std::size_t files_before = open_files();
        const long mappings_before = FailingCall::live_mappings();
        {
          FakeMachine machine;
          machine.root.write("/proc/sys/kernel/hostname", "node7\n");
          machine.put(10, {.children = ""});
          machine.list(0, {{10, 1000}});
          base::Result<std::unique_ptr<Hostwatch>> watch;
          {
            FailingCall failing(call, nth, error);
            watch = Hostwatch::open(machine.options(), machine.recorder(), machine.identities());
            if (watch) (*watch)->tick();
            if (!failing.was_hit()) break;
          }
          ++rounds;
          if (!watch) {
            EXPECT_FALSE(watch.error().message.empty()) << where;
            continue;
          }
          machine.pass_seconds(61);
          machine.list(0, {{10, 1000}});
          (*watch)->tick();
          EXPECT_EQ(machine.node_rows(Lane::kOnce).back().text(MetricId::host_name), "node7")
              << where;
          ASSERT_FALSE(machine.identity_rows().empty()) << where;
          const catalog::Row who = machine.identity_rows().back();
          EXPECT_EQ(who.state(MetricId::identity_user), State::kOk) << where;
          EXPECT_EQ(who.text(MetricId::identity_command), "python train.py") << where;
          EXPECT_EQ(who.state(MetricId::identity_cgroup), State::kOk) << where;
        }
        EXPECT_EQ(open_files(), files_before) << where;
        EXPECT_EQ(FailingCall::live_mappings(), mappings_before) << where;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(rounds, 50U);
}

}  // namespace
}  // namespace everywatt::hostwatch
