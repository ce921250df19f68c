// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "record/hostwatch/fake_machine.h"
#include "record/hostwatch/identities.h"

namespace everywatt::hostwatch {
namespace {

using catalog::EventKind;
using catalog::MetricId;
using catalog::State;

std::uint64_t number(const catalog::Row& row, MetricId metric) {
  EXPECT_EQ(row.state(metric), State::kOk) << catalog::metric(metric).name;
  return row.reading(metric).u64();
}

double value(const catalog::Row& row, MetricId metric) {
  EXPECT_EQ(row.state(metric), State::kOk) << catalog::metric(metric).name;
  return row.reading(metric).f64();
}

TEST(Processes, GetAnIdentityAndAStartAtFirstSight) {
  FakeMachine machine;
  machine.put(4242, {.cgroup = "0::/system.slice/slurmstepd.scope/job_77/step_0/user/task_0\n",
                     .environ = std::string("SLURM_JOB_ACCOUNT=nlp\0SECRET=x\0", 31),
                     .nspid = "4242\t17"});
  auto watch = machine.open();
  machine.list(0, {{4242, 1 << 20}});
  machine.list(1, {});
  watch->tick();

  const auto identities = machine.identity_rows();
  ASSERT_EQ(identities.size(), 1u);
  const catalog::Row& who = identities[0];
  EXPECT_EQ(number(who, MetricId::identity_pid), 4242u);
  EXPECT_EQ(number(who, MetricId::identity_container_pid), 17u);
  EXPECT_EQ(number(who, MetricId::identity_uid), 1000u);
  EXPECT_EQ(who.text(MetricId::identity_user), "anna");
  EXPECT_EQ(who.text(MetricId::identity_command), "python train.py");
  EXPECT_EQ(value(who, MetricId::identity_start_seconds), 500.0);
  EXPECT_EQ(who.reading(MetricId::identity_first_seen_wall_ns).i64(), 1'700'001'000'000'000'000);
  EXPECT_EQ(who.text(MetricId::identity_runtime), "slurm");
  EXPECT_EQ(who.text(MetricId::identity_slurm_job), "77");
  EXPECT_EQ(who.text(MetricId::identity_slurm_step), "0");
  EXPECT_EQ(who.text(MetricId::identity_labels), "SLURM_JOB_ACCOUNT=nlp");
  EXPECT_EQ(who.state(MetricId::identity_container), State::kNotSupported);

  const auto listing = machine.last_listing();
  ASSERT_EQ(listing.size(), 1u);
  EXPECT_EQ(number(listing[0], MetricId::host_process_count), 1u);
  EXPECT_EQ(number(listing[0], MetricId::host_process_pid), 4242u);
  EXPECT_EQ(number(listing[0], MetricId::host_process_identity),
            number(who, MetricId::identity_key));
  EXPECT_EQ(number(listing[0], MetricId::host_process_state), std::uint64_t{'S'});
  EXPECT_EQ(number(listing[0], MetricId::host_process_threads), 3u);
  EXPECT_EQ(number(listing[0], MetricId::host_process_resident_bytes), 256u * 4096);
  EXPECT_EQ(number(listing[0], MetricId::host_process_allowed_cpus), 4u);
  EXPECT_EQ(listing[0].state(MetricId::host_process_shm_size_bytes), State::kNotSupported);
  EXPECT_EQ(listing[0].state(MetricId::host_process_cgroup_memory_limit_bytes),
            State::kNotSupported);

  const auto starts = machine.events(EventKind::kProcessStart);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(number(starts[0], MetricId::event_pid), 4242u);
  EXPECT_EQ(number(starts[0], MetricId::event_device), machine.gpu_slot(0));
  EXPECT_EQ(number(starts[0], MetricId::event_identity), number(who, MetricId::identity_key));
  watch->tick();
  EXPECT_EQ(machine.events(EventKind::kProcessStart).size(), 1u);
  EXPECT_EQ(machine.identity_rows().size(), 1u);
}

TEST(Processes, EndOnceWithTheirRunAndPeak) {
  FakeMachine machine;
  machine.put(10, {});
  auto watch = machine.open();
  machine.list(0, {{10, 3ull << 30}});
  watch->tick();
  machine.pass_seconds(1);
  machine.list(0, {{10, 1ull << 30}});
  watch->tick();
  machine.end(10);
  machine.pass_seconds(1);
  watch->tick();  // the driver's listing is from before
  machine.pass_seconds(1);
  machine.list(0, {});
  watch->tick();
  const auto ends = machine.events(EventKind::kProcessEnd);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(number(ends[0], MetricId::event_pid), 10u);
  // It started 500 s before its first sight.
  EXPECT_EQ(ends[0].text(MetricId::event_text),
            "process 10 ended after 8 min, at most 3.0 GiB of its memory");
  EXPECT_EQ(machine.events(EventKind::kProcessStart).size(), 1u);
  const auto listing = machine.last_listing();
  ASSERT_EQ(listing.size(), 1u);
  EXPECT_EQ(number(listing[0], MetricId::host_process_count), 0u);
}

TEST(Processes, ThatLeaveTheGpuAndRunOnEndThereAndStartAgain) {
  FakeMachine machine;
  machine.put(10, {});
  auto watch = machine.open();
  for (const bool is_there : {true, false, true}) {
    if (is_there) {
      machine.list(0, {{10, 0}});
    } else {
      machine.list(0, {});
    }
    watch->tick();
    machine.pass_seconds(1);
  }
  EXPECT_EQ(machine.events(EventKind::kProcessStart).size(), 2u);
  EXPECT_EQ(machine.events(EventKind::kProcessEnd).size(), 1u);
  EXPECT_EQ(machine.identity_rows().size(), 1u);
}

TEST(Processes, AreOthersWhenAPidIsUsedAgain) {
  FakeMachine machine;
  machine.put(10, {.start_ticks = 50'000});
  auto watch = machine.open();
  machine.list(0, {{10, 0}});
  watch->tick();
  machine.pass_seconds(1);
  machine.put(10, {.start_ticks = 90'000, .cmdline = std::string("julia\0fit.jl\0", 13)});
  machine.list(0, {{10, 0}});
  watch->tick();
  machine.pass_seconds(1);
  machine.list(0, {{10, 0}});
  watch->tick();
  const auto identities = machine.identity_rows();
  ASSERT_EQ(identities.size(), 2u);
  EXPECT_NE(number(identities[0], MetricId::identity_key),
            number(identities[1], MetricId::identity_key));
  EXPECT_EQ(identities[1].text(MetricId::identity_command), "julia fit.jl");
  EXPECT_EQ(number(machine.last_listing().at(0), MetricId::host_process_identity),
            number(identities[1], MetricId::identity_key));
  EXPECT_EQ(machine.events(EventKind::kProcessStart).size(), 2u);
  EXPECT_EQ(machine.events(EventKind::kProcessEnd).size(), 1u);
}

// Another process takes the number over as soon as the first one's files are opened.
TEST(Processes, AreNeverAMixtureOfTwoWithTheSameNumber) {
  FakeMachine machine;
  auto identities = Identities::open({.root = machine.root.root(), .labels = {}, .boot_id = "b"},
                                     machine.identities())
                        .value();
  for (std::uint32_t pid = 1; pid <= 12; ++pid) {
    machine.put_later(pid, {.start_ticks = 100, .cmdline = "first"}, 1);
    machine.put_later(pid, {.start_ticks = 200, .cmdline = "second"}, 2);
    machine.replace(pid, 1);
    const base::UniqueFd opened(::inotify_init1(IN_CLOEXEC));
    const std::string line = fmt::format("{}/proc/{}.1/stat", machine.root.folder(), pid);
    ASSERT_GE(::inotify_add_watch(opened.get(), line.c_str(), IN_OPEN), 0);
    std::jthread replacer([&] {
      std::array<char, 256> note{};
      if (::read(opened.get(), note.data(), note.size()) > 0) machine.replace(pid, 2);
    });
    ASSERT_TRUE(identities.capture(pid, 1, 1).has_value());
  }
  for (const catalog::Row& row : machine.identity_rows()) {
    EXPECT_EQ(row.text(MetricId::identity_command),
              value(row, MetricId::identity_start_seconds) == 1.0 ? "first" : "second");
  }
}

TEST(Processes, ThatTheDriverNamesAndNobodyFindsAreShownAsSuch) {
  FakeMachine machine;
  auto watch = machine.open();
  for (int second = 0; second < 3; ++second) {
    machine.list(0, {{900, 1ull << 34}});
    watch->tick();
    EXPECT_EQ(number(machine.last_listing().at(0), MetricId::host_process_count), 0u);
    machine.pass_seconds(1);
  }
  machine.list(0, {{900, 1ull << 34}});
  watch->tick();
  const auto listing = machine.last_listing();
  ASSERT_EQ(listing.size(), 1u);
  EXPECT_EQ(number(listing[0], MetricId::host_process_pid), 900u);
  EXPECT_EQ(number(listing[0], MetricId::host_process_state), std::uint64_t{'X'});
  EXPECT_EQ(listing[0].state(MetricId::host_process_identity), State::kLost);
  EXPECT_EQ(listing[0].state(MetricId::host_process_threads), State::kLost);
  EXPECT_EQ(machine.events(EventKind::kProcessStart).size(), 1u);
  EXPECT_TRUE(machine.identity_rows().empty());
}

TEST(Processes, KeepWhatTheirChildrenUsed) {
  FakeMachine machine;
  machine.put(10, {.user_ticks = 1000, .read_bytes = 5, .children = "11 12 "});
  machine.put(11, {.parent = 10, .user_ticks = 300, .read_bytes = 1000});
  machine.put(12, {.parent = 10, .user_ticks = 200});
  auto watch = machine.open();
  machine.list(0, {{10, 0}});
  watch->tick();
  const catalog::Row before = machine.last_listing().at(0);
  EXPECT_EQ(number(before, MetricId::host_process_children), 2u);
  EXPECT_EQ(number(before, MetricId::host_process_children_threads), 6u);
  EXPECT_EQ(number(before, MetricId::host_process_children_resident_bytes), 2u * 256 * 4096);
  EXPECT_EQ(value(before, MetricId::host_process_cpu_seconds_total), 10.0);
  EXPECT_EQ(value(before, MetricId::host_process_children_cpu_seconds_total), 5.0);
  EXPECT_EQ(number(before, MetricId::host_process_children_read_bytes_total), 1000u);

  machine.end(11);
  machine.put(
      10, {.user_ticks = 1100, .ended_children_ticks = 310, .read_bytes = 1005, .children = "12 "});
  machine.pass_seconds(1);
  watch->tick();
  const catalog::Row after = machine.last_listing().at(0);
  EXPECT_EQ(number(after, MetricId::host_process_children), 1u);
  EXPECT_EQ(value(after, MetricId::host_process_cpu_seconds_total), 11.0);
  EXPECT_DOUBLE_EQ(value(after, MetricId::host_process_children_cpu_seconds_total), 5.1);
  EXPECT_EQ(number(after, MetricId::host_process_read_bytes_total), 5u);
  EXPECT_EQ(number(after, MetricId::host_process_children_read_bytes_total), 1000u);
}

TEST(Processes, GetNewChildrenWithinSecondsOfTheirStart) {
  FakeMachine machine;
  machine.put(10, {});
  auto watch = machine.open();
  machine.list(0, {{10, 0}});
  watch->tick();
  machine.put(10, {.children = "11 "});
  machine.put(11, {.parent = 10, .user_ticks = 40});
  machine.root.write("/proc/stat", "cpu 100 0 100 100 0 0 0 0\nprocesses 2\n");
  for (int second = 0; second < 7; ++second) {
    machine.pass_seconds(1);
    watch->tick();
  }
  const catalog::Row row = machine.last_listing().at(0);
  EXPECT_EQ(number(row, MetricId::host_process_children), 1u);
  EXPECT_EQ(value(row, MetricId::host_process_children_cpu_seconds_total), 0.4);
}

TEST(Processes, BeyondTheFirstOnesAreReadEachTenSeconds) {
  FakeMachine machine;
  for (std::uint32_t pid = 10; pid < 13; ++pid)
    machine.put(pid, {});
  Options options = machine.options();
  options.max_processes = 2;
  auto watch = machine.open(std::move(options));
  machine.list(0, {{10, 0}, {11, 0}, {12, 0}});
  watch->tick();
  EXPECT_EQ(machine.last_listing().at(2).state(MetricId::host_process_threads), State::kOk);
  for (int second = 1; second <= 10; ++second) {
    machine.pass_seconds(1);
    watch->tick();
    const auto listing = machine.last_listing();
    ASSERT_EQ(listing.size(), 3u);
    EXPECT_EQ(listing[1].state(MetricId::host_process_threads), State::kOk);
    EXPECT_EQ(number(listing[2], MetricId::host_process_pid), 12u);
    EXPECT_EQ(listing[2].state(MetricId::host_process_threads),
              second == 10 ? State::kOk : State::kNotRead);
  }
}

TEST(Processes, ThatEndBetweenTheListingAndTheLookCostOnlyThemselves) {
  FakeMachine machine;
  machine.put(10, {});
  machine.put(11,
              {.name = "a) R 1 (b\t\n", .state = 'Z', .cmdline = ""});  // a zombie, hostile name
  machine.root.write("/proc/12/stat", "");                              // no line any more
  machine.root.write("/proc/13/stat", "13 (x) S");                      // cut short
  auto watch = machine.open();
  machine.list(0, {{10, 1}, {11, 1}, {12, 1}, {13, 1}, {14, 1}});
  watch->tick();
  machine.pass_seconds(4);  // beyond all doubt
  watch->tick();
  const auto listing = machine.last_listing();
  ASSERT_EQ(listing.size(), 5u);
  EXPECT_EQ(number(listing[0], MetricId::host_process_state), std::uint64_t{'S'});
  EXPECT_EQ(number(listing[1], MetricId::host_process_state), std::uint64_t{'Z'});
  EXPECT_EQ(listing[2].state(MetricId::host_process_state), State::kFailed);
  EXPECT_EQ(listing[3].state(MetricId::host_process_state), State::kFailed);
  EXPECT_EQ(number(listing[4], MetricId::host_process_state), std::uint64_t{'X'});
  const auto who = machine.identity_rows();
  ASSERT_EQ(who.size(), 2u);
  EXPECT_EQ(who[1].text(MetricId::identity_command), "a) R 1 (b");
}

TEST(Processes, AreLookedForOnlyAsFarAsAListingGoes) {
  FakeMachine machine(1);
  machine.put(1, {});
  std::vector<std::pair<std::uint32_t, std::uint64_t>> uses;
  for (std::uint32_t pid = 1; pid <= 1500; ++pid)
    uses.emplace_back(pid, 1);
  auto watch = machine.open();
  machine.list(0, {{1, 1}});
  watch->tick();
  machine.pass_seconds(1);
  machine.list(0, uses);  // more than any driver lists: not believed
  watch->tick();
  EXPECT_EQ(machine.last_listing().size(), 1u);
  machine.pass_seconds(1);
  uses.resize(1024);
  machine.list(0, uses);
  watch->tick();
  machine.pass_seconds(4);
  watch->tick();
  const auto listing = machine.last_listing();
  ASSERT_EQ(listing.size(), 1024u);
  EXPECT_EQ(number(listing[0], MetricId::host_process_state), std::uint64_t{'S'});
  EXPECT_EQ(number(listing[1023], MetricId::host_process_index), 1023u);
  EXPECT_EQ(number(listing[1023], MetricId::host_process_count), 1024u);
}

TEST(Processes, FromBeforeARestartAreNotNews) {
  FakeMachine machine;
  machine.put(10, {});
  machine.list(0, {{10, 0}});
  machine.open()->tick();
  machine.pass_seconds(1);
  machine.put(20, {});
  machine.list(0, {{10, 0}, {20, 0}});
  machine.open()->tick();
  EXPECT_EQ(machine.identity_rows().size(), 2u);
  const auto starts = machine.events(EventKind::kProcessStart);
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(number(starts[1], MetricId::event_pid), 20u);
}

TEST(Processes, HaveNoTextThatCouldForgeALineOrTellASecret) {
  FakeMachine machine;
  machine.put(10, {.name = "evil\n) R 1",
                   .cmdline = std::string("/bin/x\n\xff}\0--token=abc\0PASSWORD=hunter2\0", 38),
                   .cgroup = "0::/a\"\\b\x1b[31m\n",
                   .environ = std::string("SLURM_JOB_NAME=a\nb\0AWS_SECRET_ACCESS_KEY=k\0", 44)});
  auto watch = machine.open();
  machine.list(0, {{10, 0}});
  watch->tick();
  const auto identities = machine.identity_rows();
  ASSERT_EQ(identities.size(), 1u);
  std::string all;
  for (const MetricId metric :
       {MetricId::identity_command, MetricId::identity_cgroup, MetricId::identity_labels}) {
    all += std::string(identities[0].text(metric)) + "|";
  }
  EXPECT_EQ(all.find_first_of("\n\x1b\xff"), std::string::npos) << all;
  // Nowhere in either file, whatever the ring.
  for (recorder::File* file : {&machine.recorder(), &machine.identities()}) {
    std::string bytes(file->header().file_bytes, '\0');
    ASSERT_EQ(::pread(file->fd(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    for (const char* secret : {"token=abc", "hunter2", "SECRET_ACCESS"}) {
      EXPECT_EQ(bytes.find(secret), std::string::npos) << secret;
    }
  }
}

TEST(Processes, KeepTheReasonWhenAFileIsRefused) {
  FakeMachine machine;
  machine.put(10, {});
  machine.root.write("/proc/10/io", "");
  auto watch = machine.open();
  machine.list(0, {{10, 0}});
  watch->tick();
  const catalog::Row row = machine.last_listing().at(0);
  EXPECT_EQ(row.state(MetricId::host_process_read_bytes_total), State::kFailed);
  EXPECT_EQ(row.state(MetricId::host_process_cpu_seconds_total), State::kOk);
}

TEST(GpuUses, WaitForTheWholeListingAndOutliveTheirGpu) {
  FakeMachine machine;
  machine.put(10, {});
  auto watch = machine.open();
  machine.list(0, {{10, 0}});
  watch->tick();
  machine.recorder().set_status(machine.gpu_slot(0), recorder::DeviceStatus::kLost, machine.now_ns);
  machine.pass_seconds(1);
  watch->tick();
  EXPECT_EQ(number(machine.last_listing().at(0), MetricId::host_process_pid), 10u);
  EXPECT_TRUE(machine.events(EventKind::kProcessEnd).empty());
  machine.recorder().set_status(machine.gpu_slot(0), recorder::DeviceStatus::kGone, machine.now_ns);
  machine.pass_seconds(1);
  watch->tick();
  EXPECT_EQ(machine.events(EventKind::kProcessEnd).size(), 1u);
}

}  // namespace
}  // namespace everywatt::hostwatch
