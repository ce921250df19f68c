// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/unique_fd.h"
#include "device/host/cgroup.h"
#include "device/host/children.h"
#include "device/host/command.h"
#include "device/host/machine.h"
#include "device/host/open_file.h"
#include "device/host/process_end.h"
#include "device/host/process_line.h"
#include "device/host/process_status.h"

// The kernel's own files, of a process that a test makes: what they really look like.
namespace everywatt::host {
namespace {

// A child that has a name of its own and waits until it is let go.
class Child {
 public:
  explicit Child(const char* name) {
    std::array<int, 2> ready{};
    std::array<int, 2> go{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    EXPECT_EQ(::pipe(go.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(go[1]);
      ::prctl(PR_SET_NAME, name);
      [[maybe_unused]] const ssize_t written = ::write(ready[1], "x", 1);
      char byte = 0;
      [[maybe_unused]] const ssize_t got = ::read(go[0], &byte, 1);
      ::_exit(0);
    }
    ::close(ready[1]);
    ::close(go[0]);
    go_.reset(go[1]);
    const base::UniqueFd is_ready(ready[0]);
    char byte = 0;
    EXPECT_EQ(::read(is_ready.get(), &byte, 1), 1);
  }
  ~Child() {
    let_end();
    reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  std::string file(std::string_view name) const {
    return "/proc/" + std::to_string(pid_) + "/" + std::string(name);
  }
  void let_end() { go_.reset(); }
  // Ended and not yet waited for.
  void become_zombie() {
    let_end();
    siginfo_t how{};
    EXPECT_EQ(::waitid(P_PID, pid(), &how, WEXITED | WNOWAIT), 0);
  }
  void reap() {
    if (pid_ <= 0) return;
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  base::UniqueFd go_;
};

TEST(LiveMachine, ShowsAProcessWithAHostileNameAsItIs) {
  for (const char* name : {"a) R 1 (b", "x\ny z", "Uid:\t0\t0", "\xff\xfe)"}) {
    const Child child(name);
    const std::string text = Root("/").read(child.file("stat")).value();
    const auto line = parse_process_line(text);
    ASSERT_TRUE(line.has_value()) << text;
    EXPECT_EQ(line->pid, child.pid());
    EXPECT_EQ(line->parent, static_cast<std::uint32_t>(::getpid()));
    EXPECT_EQ(line->threads, 1u);
    const std::string status_text = Root("/").read(child.file("status")).value();
    const auto status = parse_process_status(status_text);
    ASSERT_TRUE(status.has_value());
    EXPECT_EQ(status->user_id, ::geteuid());
    EXPECT_EQ(status->threads, 1u);
  }
}

TEST(LiveMachine, ShowsAZombieWithoutACommand) {
  Child child("zombie");
  child.become_zombie();
  const std::string text = Root("/").read(child.file("stat")).value();
  EXPECT_EQ(parse_process_line(text)->state, 'Z');
  EXPECT_EQ(format_command(Root("/").read(child.file("cmdline")).value(), CommandStyle::kFull), "");
  const std::string status_text = Root("/").read(child.file("status")).value();
  const auto status = parse_process_status(status_text);
  ASSERT_TRUE(status.has_value());
  EXPECT_FALSE(status->resident_bytes.has_value());
}

TEST(LiveMachine, TakesNoOtherProcessForOneThatEnded) {
  Child child("ends");
  OpenFile line(Root("/"), child.file("stat"));
  ASSERT_TRUE(line.read().has_value());
  const auto end = open_process_end(Root("/"), child.pid());
  const std::uint32_t pid = child.pid();
  const auto children = [] {
    return list_descendants(Root("/"), static_cast<std::uint32_t>(::getpid()), 4096);
  };
  EXPECT_EQ(std::ranges::count(children(), pid), 1);
  child.let_end();
  child.reap();
  EXPECT_EQ(line.read().error().code, base::Code::kNotFound);
  EXPECT_EQ(line.read().error().code, base::Code::kNotFound);
  EXPECT_EQ(std::ranges::count(children(), pid), 0);
  EXPECT_FALSE(exists_hidden(Root("/"), pid));
}

TEST(LiveMachine, TellsWhatEveryLinuxTells) {
  const auto read = [](const char* path) { return Root("/").read(path, 1 << 20).value(); };
  const auto time = parse_cpu_time(read("/proc/stat"));
  ASSERT_TRUE(time.has_value());
  EXPECT_GE(time->cpus, 1u);
  EXPECT_GT(time->idle_seconds + time->user_seconds, 0);
  const auto memory = parse_memory(read("/proc/meminfo"));
  ASSERT_TRUE(memory.has_value());
  EXPECT_GE(memory->total_bytes, memory->available_bytes);
  EXPECT_TRUE(parse_load(read("/proc/loadavg")).has_value());
  EXPECT_GT(parse_uptime(read("/proc/uptime")).value(), 0);
  EXPECT_TRUE(parse_boot_id(read("/proc/sys/kernel/random/boot_id")).has_value());
  const std::string groups = read("/proc/self/cgroup");
  EXPECT_FALSE(parse_cgroup_lines(groups).empty());
  const CgroupLimits limits = read_cgroup_limits(Root("/"), groups);
  EXPECT_TRUE(!limits.allowed_cpus || *limits.allowed_cpus <= 65536u);
}

// Descriptors are the first thing that a daemon runs out of.
TEST(LiveMachine, KeepsNoFileOpenThatItReadsOnce) {
  const int before = ::dup(0);
  ::close(before);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(Root("/").read("/proc/self/stat").has_value());
    EXPECT_FALSE(Root("/").read("/proc/self/no_such_file").has_value());
    EXPECT_FALSE(list_descendants(Root("/"), 0x7ffffff0, 10).size() > 0);
    EXPECT_FALSE(open_process_end(Root("/"), 0x7ffffff0).has_value());
  }
  const int after = ::dup(0);
  ::close(after);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace everywatt::host
