// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

using base::Code;
using catalog::Lane;

constexpr int kPassed = 0;
constexpr int kCannotMount = 77;

// Each case needs a process of its own: what it does to its mounts and limits stays done.
template <typename Body>
int run_in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A memory-backed folder of its own for this process; false where that is not allowed.
bool mount_folder(const std::string& folder, const char* options) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", folder.c_str(), "tmpfs", 0, options) == 0;
}

std::string make_folder() {
  std::string pattern = ::testing::TempDir() + "full-XXXXXX";
  return ::mkdtemp(pattern.data()) == nullptr ? std::string() : pattern;
}

// Prints what is wrong, for the child's exit code says only that something is.
int expect(bool is_so, const base::Error& error) {
  if (!is_so) fprintf(stderr, "%s (hint: %s)\n", error.message.c_str(), error.hint.c_str());
  return is_so ? kPassed : 1;
}

class FullFolderTest : public ::testing::Test {
 protected:
  void TearDown() override { ::rmdir(folder_.c_str()); }
  std::string folder_ = make_folder();
  std::string path_ = folder_ + "/recorder";
};

TEST_F(FullFolderTest, NoSpaceForARingIsAnErrorAndNotASignal) {
  const int code = run_in_child([&] {
    if (!mount_folder(folder_, "size=512k")) return kCannotMount;
    auto file = File::create(path_, 0644, small_layout(1 << 16));
    if (!file) return expect(false, file.error());
    const auto writer = (*file)->writer(kSmallFileGpu, Lane::kGauge);
    if (writer) return 2;
    const base::Error& error = writer.error();
    return expect(error.code == Code::kIo && !error.hint.empty() &&
                      error.message.ends_with(path_ + ": No space left on device"),
                  error);
  });
  if (code == kCannotMount) GTEST_SKIP() << "this user may not mount a small folder";
  EXPECT_EQ(code, kPassed);
}

TEST_F(FullFolderTest, NoSpaceForTheTablesIsAnErrorAndLeavesNothing) {
  const int code = run_in_child([&] {
    if (!mount_folder(folder_, "size=16k")) return kCannotMount;
    const auto file = File::create(path_, 0644, small_layout(4));
    if (file) return 2;
    const base::Error& error = file.error();
    if (!std::filesystem::is_empty(folder_)) return 3;
    return expect(error.code == Code::kIo && !error.hint.empty(), error);
  });
  if (code == kCannotMount) GTEST_SKIP() << "this user may not mount a small folder";
  EXPECT_EQ(code, kPassed);
}

TEST_F(FullFolderTest, AReadOnlyFolderIsSaid) {
  const int code = run_in_child([&] {
    if (!mount_folder(folder_, "ro")) return kCannotMount;
    const auto file = File::create(path_, 0644, small_layout(4));
    if (file) return 2;
    return expect(
        file.error().message == "cannot create a file in " + folder_ + ": Read-only file system",
        file.error());
  });
  if (code == kCannotMount) GTEST_SKIP() << "this user may not mount a read-only folder";
  EXPECT_EQ(code, kPassed);
}

TEST_F(FullFolderTest, ALimitOnFileSizesIsAnError) {
  const int code = run_in_child([&] {
    // The kernel also sends a signal, as the program that sets such limits must expect.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 64 << 10, .rlim_max = 64 << 10};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
    const auto file = File::create(path_, 0644, small_layout(1 << 16));
    if (file) return 2;
    return expect(file.error().code == Code::kIo &&
                      file.error().message.ends_with(path_ + ": File too large"),
                  file.error());
  });
  EXPECT_EQ(code, kPassed);
}

TEST_F(FullFolderTest, KnowsWhetherItsFolderIsInMemory) {
  const int code = run_in_child([&] {
    if (!mount_folder(folder_, "size=4m")) return kCannotMount;
    const auto file = File::create(path_, 0644, small_layout(4));
    return file && (*file)->is_in_memory() ? kPassed : 1;
  });
  if (code == kCannotMount) GTEST_SKIP() << "this user may not mount a folder";
  EXPECT_EQ(code, kPassed);
}

}  // namespace
}  // namespace everywatt::recorder
