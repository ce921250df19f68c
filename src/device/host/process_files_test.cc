// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/unique_fd.h"
#include "device/host/children.h"
#include "device/host/fake_root.h"
#include "device/host/identity_key.h"
#include "device/host/labels.h"
#include "device/host/memory_map.h"
#include "device/host/open_file.h"
#include "device/host/process_end.h"
#include "device/host/process_io.h"
#include "device/host/process_line.h"
#include "device/host/process_status.h"
#include "device/host/shared_memory.h"
#include "device/host/users.h"

namespace everywatt::host {
namespace {

constexpr const char* kAfterName =
    " S 1 4242 4242 0 -1 4194560 1 2 3 4 1000 250 30 20 20 0 17 0 98765 123456789 2048 "
    "18446744073709551615 1 1 0 0 0 0 0 16781312 134217987 0 0 0 17 3 0 0 0 0 0\n";

TEST(ProcessLine, IsReadAroundAnyName) {
  for (const char* name : {"python", "a b", ")", "(x) S 1", "evil\n) R 99 ", "", "\xff\xfe"}) {
    const std::string text = "4242 (" + std::string(name) + ")" + kAfterName;
    const auto line = parse_process_line(text);
    ASSERT_TRUE(line.has_value()) << name;
    EXPECT_EQ(line->pid, 4242u);
    EXPECT_EQ(line->name, name);
    EXPECT_EQ(line->state, 'S');
    EXPECT_EQ(line->parent, 1u);
    EXPECT_EQ(line->user_seconds, 10.0);
    EXPECT_EQ(line->system_seconds, 2.5);
    EXPECT_EQ(line->ended_children_seconds, 0.5);
    EXPECT_EQ(line->threads, 17u);
    EXPECT_EQ(line->start_ticks, 98765u);
    EXPECT_EQ(line->resident_pages, 2048u);
  }
}

TEST(ProcessLine, IsCorruptWhenItIsNoSuchLine) {
  for (const char* text : {"", "4242", "4242 (python", "4242 (python)", "x (python) S 1 2 3",
                           "4242 (python) S 1 2 3", ") (", "4242 (a) SS 1"}) {
    EXPECT_EQ(parse_process_line(text).error().code, base::Code::kCorrupt) << text;
  }
}

TEST(ProcessStatus, TellsUserAndPidInContainer) {
  const auto status = parse_process_status(
      "Name:\tpython\nUmask:\t0022\nState:\tS (sleeping)\nUid:\t1000\t1001\t1000\t1000\n"
      "NSpid:\t4242\t17\nVmHWM:\t 900 kB\nVmRSS:\t 800 kB\nThreads:\t17\n"
      "Cpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->user_id, 1001u);
  EXPECT_EQ(status->pid_in_container, 17u);
  EXPECT_EQ(status->resident_bytes, 819200u);
  EXPECT_EQ(status->peak_bytes, 921600u);
  EXPECT_EQ(status->threads, 17u);
  EXPECT_EQ(status->allowed_cpus, "0-7");
}

TEST(ProcessStatus, OfAnOldKernelOrOutsideOfContainersHasNoOtherPid) {
  const auto old = parse_process_status("Uid:\t0\t0\t0\t0\n");
  ASSERT_TRUE(old.has_value());
  EXPECT_FALSE(old->pid_in_container.has_value());
  EXPECT_FALSE(old->resident_bytes.has_value());
  const auto plain = parse_process_status("Uid:\t0\t0\t0\t0\nNSpid:\t4242\n");
  EXPECT_FALSE(plain->pid_in_container.has_value());
  EXPECT_FALSE(parse_process_status("Name:\tpython\n").has_value());
}

TEST(CpuList, IsCounted) {
  EXPECT_EQ(count_cpus("0"), 1u);
  EXPECT_EQ(count_cpus("0-15"), 16u);
  EXPECT_EQ(count_cpus("0-3,8,10-11\n"), 7u);
  for (const char* text : {"", "a", "3-1", "0-99999999", "0,,1", "-"}) {
    EXPECT_FALSE(count_cpus(text).has_value()) << text;
  }
}

TEST(ProcessIo, CountsStorageOnly) {
  const auto io = parse_process_io(
      "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\n"
      "cancelled_write_bytes: 5\n");
  ASSERT_TRUE(io.has_value());
  EXPECT_EQ(io->read_bytes, 4096u);
  EXPECT_EQ(io->written_bytes, 8192u);
  EXPECT_FALSE(parse_process_io("rchar: 1\n").has_value());
}

TEST(Labels, KeepNothingButWhatIsAskedFor) {
  using std::string_literals::operator""s;
  const std::string environment =
      "HOME=/root\0SLURM_JOB_ID=77\0AWS_SECRET_ACCESS_KEY=abc\0TEAM=vision lab\0"
      "SLURM_JOB_ACCOUNT=nlp\0SLURM_JOB_COMMENT=private\0TOKEN=t\0SLURM_JOB_NAME=a\nb=c\0"s;
  const std::vector<std::string> chosen = {"TEAM"};
  EXPECT_EQ(format_labels(environment, chosen),
            "SLURM_JOB_ACCOUNT=nlp SLURM_JOB_ID=77 SLURM_JOB_NAME=a_b=c TEAM=vision_lab");
  EXPECT_EQ(find_variable(environment, "SLURM_JOB_ID"), "77");
  EXPECT_EQ(find_variable(environment, "SLURM_JOB"), "");
  EXPECT_EQ(format_labels("", {}), "");
}

TEST(Users, AreNamedByThePasswdFileBelowTheRoot) {
  const FakeRoot fake;
  fake.write("/etc/passwd",
             "root:x:0:0:root:/root:/bin/bash\nbroken\nanna:x:1000:1000::/:/bin/sh\n");
  EXPECT_EQ(read_user(fake.root(), 1000), "anna");
  EXPECT_EQ(read_user(fake.root(), 1001), "1001");
  EXPECT_EQ(read_user(Root("/nowhere"), 0), "0");
}

TEST(IdentityKey, TellsApartPidStartAndBoot) {
  const std::uint64_t key = identity_key("boot", 4242, 98765);
  EXPECT_EQ(key, identity_key("boot", 4242, 98765));
  EXPECT_NE(key, identity_key("boot", 4242, 98766));
  EXPECT_NE(key, identity_key("boot", 4243, 98765));
  EXPECT_NE(key, identity_key("boat", 4242, 98765));
  EXPECT_NE(key, 0u);
}

TEST(Children, AreFoundThroughAllThreadsAndGenerations) {
  const FakeRoot fake;
  fake.write("/proc/10/task/10/children", "11 12 ");
  fake.write("/proc/10/task/19/children", "13 ");
  fake.write("/proc/11/task/11/children", "14 ");
  fake.write("/proc/14/task/14/children", "10 11 ");  // a circle, as of a pid used again
  EXPECT_EQ(list_descendants(fake.root(), 10, 100), (std::vector<std::uint32_t>{11, 12, 13, 14}));
  EXPECT_EQ(list_descendants(fake.root(), 10, 2), (std::vector<std::uint32_t>{11, 12}));
  EXPECT_TRUE(list_descendants(fake.root(), 99, 100).empty());
}

TEST(Children, AreFoundByTheirParentsWhereTheKernelKeepsNoLists) {
  const FakeRoot fake;
  const auto add = [&](int pid, int parent) {
    std::string after = kAfterName;
    after.replace(3, 1, std::to_string(parent));
    fake.write("/proc/" + std::to_string(pid) + "/stat", std::to_string(pid) + " (p)" + after);
  };
  add(10, 1);
  add(11, 10);
  add(12, 11);
  add(13, 1);
  EXPECT_EQ(list_descendants(fake.root(), 10, 100), (std::vector<std::uint32_t>{11, 12}));
}

TEST(Children, SkipWhatIsNoPid) {
  std::vector<std::uint32_t> pids;
  parse_children("5 x 0 99999999999 6 ", pids);
  EXPECT_EQ(pids, (std::vector<std::uint32_t>{5, 6}));
}

TEST(SharedMemory, IsAskedOnlyWhereItIsInMemory) {
  EXPECT_TRUE(
      has_shared_memory("22 1 0:20 / /dev/shm rw,nosuid master:3 - tmpfs shm rw,size=65536k\n"));
  EXPECT_FALSE(has_shared_memory(
      "22 1 0:20 / /dev/shm rw - tmpfs shm rw\n23 1 0:21 / /dev/shm rw - fuse.evil x rw\n"));
  EXPECT_FALSE(has_shared_memory("22 1 0:20 / /dev rw - tmpfs dev rw\nbroken\n"));
  const FakeRoot fake;
  EXPECT_EQ(read_shared_memory(fake.root(), 10).error().code, base::Code::kNotFound);
  fake.write("/proc/10/mountinfo", "22 1 0:20 / / rw - ext4 /dev/sda1 rw\n");
  EXPECT_EQ(read_shared_memory(fake.root(), 10).error().code, base::Code::kNotSupported);
}

TEST(ProportionalMemory, IsSplitByFile) {
  const std::vector<FileNumber> files = {{.device_major = 0, .device_minor = 0x1a, .inode = 77}};
  const auto memory = parse_proportional_memory(
      "7f00-7f01 rw-s 00000000 00:1a 77 /run/everywatt/recorder\n"
      "Size:     4096 kB\nPss:       100 kB\nPss_Dirty:  50 kB\nVmFlags: rd wr\n"
      "7f02-7f03 r-xp 00000000 00:1b 77 /usr/lib/other\nPss:        30 kB\n"
      "7f04-7f05 rw-p 00000000 00:00 0 \nPss:         5 kB\n",
      files);
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->total_bytes, 135u * 1024);
  EXPECT_EQ(memory->file_bytes, 100u * 1024);
  EXPECT_FALSE(parse_proportional_memory("", files).has_value());
}

TEST(OpenFile, SeesAFileThatWasReplaced) {
  const FakeRoot fake;
  fake.write("/proc/loadavg", "1");
  OpenFile file(fake.root(), "/proc/loadavg");
  EXPECT_EQ(file.read().value(), "1");
  fake.write("/proc/loadavg", "22");
  EXPECT_EQ(file.read().value(), "22");
  fake.remove("/proc/loadavg");
  EXPECT_EQ(file.read().error().code, base::Code::kNotFound);
  fake.write("/proc/loadavg", "333");
  EXPECT_EQ(file.read().value(), "333");
}

TEST(OpenFile, ReadsLongFilesWholeAndCutsAtTheLimit) {
  const FakeRoot fake;
  const std::string text(10'000, 'x');
  fake.write("/long", text);
  OpenFile whole(fake.root(), "/long");
  EXPECT_EQ(whole.read().value(), text);
  EXPECT_EQ(fake.root().read("/long", 5000).value().size(), 5000u);
}

// Mappings of a file whose path is nearly a page long, with short lines between them.
TEST(OpenFile, ReadsOnBehindALineThatIsNearlyAPageLong) {
  const FakeRoot fake;
  std::string path = fake.folder();
  for (int i = 0; i < 14; ++i)
    path += "/" + std::string(250, 'd');
  std::filesystem::create_directories(path);
  path += "/file";
  std::ofstream(path) << std::string(4096, 'x');
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(fd.is_open());
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kPages = 64;
  void* const space =
      ::mmap(nullptr, kPages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(space, MAP_FAILED);
  for (std::size_t i = 0; i < kPages; ++i) {
    // Two neighbours differ in their rights, so that each page is a mapping of its own.
    void* const page = static_cast<std::byte*>(space) + i * kPage;
    const int rights = i % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE;
    if (i % 16 == 15) {
      ASSERT_EQ(::mmap(page, kPage, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd.get(), 0), page);
    } else {
      ASSERT_EQ(::mprotect(page, kPage, rights), 0);
    }
  }
  const std::string maps = Root("/").read("/proc/self/maps", 1 << 20).value();
  // Other mappings come and go, as a sanitizer likes.
  for (std::size_t i = 0; i < kPages; ++i) {
    const auto begin = reinterpret_cast<std::uintptr_t>(space) + i * kPage;
    EXPECT_NE(maps.find(fmt::format("{:x}-{:x} ", begin, begin + kPage)), std::string::npos) << i;
  }
  EXPECT_NE(maps.find("[stack]"), std::string::npos);
  ::munmap(space, kPages * kPage);
}

TEST(OpenFile, KeepsReadingTheKernelsOwnFiles) {
  OpenFile file(Root("/"), "/proc/self/stat");
  EXPECT_TRUE(parse_process_line(file.read().value()).has_value());
  EXPECT_TRUE(parse_process_line(file.read().value()).has_value());
}

TEST(ProcessEnd, IsUnknownBelowAnotherRoot) {
  const FakeRoot fake;
  EXPECT_EQ(open_process_end(fake.root(), 1).error().code, base::Code::kNotSupported);
  EXPECT_FALSE(exists_hidden(fake.root(), 1));
  EXPECT_EQ(open_process_end(Root("/"), 0x7fffffff).has_value(), false);
}

}  // namespace
}  // namespace everywatt::host
