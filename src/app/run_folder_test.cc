// SPDX-License-Identifier: Apache-2.0
#include "app/run_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace everywatt::app {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(RunFolder, IsChosenByTheFirstRuleThatFits) {
  RunFolderSources sources{
      .asked = "/a", .everywatt_run_dir = "/b", .xdg_runtime_dir = "/x", .uid = 1000};
  EXPECT_EQ(choose_run_folder(sources), "/a");
  sources.asked = "";
  EXPECT_EQ(choose_run_folder(sources), "/b");
  sources.everywatt_run_dir = "";
  EXPECT_EQ(choose_run_folder(sources), "/x/everywatt");
  sources.xdg_runtime_dir = "";
  EXPECT_EQ(choose_run_folder(sources), "/tmp/everywatt-1000");
  sources.uid = 0;
  EXPECT_EQ(choose_run_folder(sources), "/run/everywatt");
}

TEST(RunFolder, ReadersLookAtTheMachinesBeforeTheUsersOwn) {
  RunFolderSources sources{
      .asked = "", .everywatt_run_dir = "", .xdg_runtime_dir = "/x", .uid = 1000};
  EXPECT_THAT(run_folders_to_search(sources), ElementsAre("/run/everywatt", "/x/everywatt"));
  sources.everywatt_run_dir = "/b";
  EXPECT_THAT(run_folders_to_search(sources), ElementsAre("/b"));
  sources.asked = "/a";
  EXPECT_THAT(run_folders_to_search(sources), ElementsAre("/a"));
  EXPECT_THAT(run_folders_to_search(
                  {.asked = "", .everywatt_run_dir = "", .xdg_runtime_dir = "", .uid = 0}),
              ElementsAre("/run/everywatt"));
}

class RunFolderOnDisk : public testing::Test {
 protected:
  RunFolderOnDisk() {
    std::string pattern = "/dev/shm/everywatt-test-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RunFolderOnDisk() override {
    std::error_code error;
    fs::remove_all(folder_, error);
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static std::string complaint(const std::string& path, std::uint64_t bytes = 0) {
    const auto taken = take_run_folder(path, bytes);
    return taken ? "" : taken.error().message;
  }

  std::string folder_;
};

TEST_F(RunFolderOnDisk, IsMadeAndHeld) {
  const auto taken = take_run_folder(path("run"), 0);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_TRUE(fs::is_directory(path("run")));
  EXPECT_EQ(taken->files, path("run"));
  EXPECT_EQ(taken->warning, "");
  const auto second = take_run_folder(path("run"), 0);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("another everywatt serve runs with"));
}

TEST_F(RunFolderOnDisk, IsFreeAgainWhenItsHolderIsGone) {
  {
    const auto taken = take_run_folder(path("run"), 0);
  }
  EXPECT_TRUE(take_run_folder(path("run"), 0));
}

TEST_F(RunFolderOnDisk, IsNotLockedByWhoeverMayOnlyReadIt) {
  fs::create_directory(path("run"));
  const base::UniqueFd reader(::open(path("run").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(reader.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(complaint(path("run")), "");
  struct stat lock{};
  ASSERT_EQ(::stat(path("run/lock").c_str(), &lock), 0);
  EXPECT_EQ(lock.st_mode & 0777, 0600U);
}

TEST_F(RunFolderOnDisk, IsNoSymbolicLinkAndNoFile) {
  fs::create_directory(path("real"));
  fs::create_symlink(path("real"), path("link"));
  EXPECT_THAT(complaint(path("link/")), HasSubstr("symbolic link"));
  EXPECT_THAT(complaint(path("link")), HasSubstr("is a symbolic link or not a folder"));
  std::ofstream(path("file")) << "x";
  EXPECT_THAT(complaint(path("file")), HasSubstr("is a symbolic link or not a folder"));
}

TEST_F(RunFolderOnDisk, IsWrittenToByItsOwnerAlone) {
  fs::create_directory(path("run"));
  ::chmod(path("run").c_str(), 0777);
  EXPECT_THAT(complaint(path("run")), HasSubstr("others may write to"));
}

TEST_F(RunFolderOnDisk, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  fs::create_directory(path("run"));
  ASSERT_EQ(::chown(path("run").c_str(), 12345, 12345), 0);
  EXPECT_THAT(complaint(path("run")), HasSubstr("belongs to user 12345"));
}

TEST_F(RunFolderOnDisk, WithoutParentIsATypingError) {
  EXPECT_THAT(complaint(path("no/run")), HasSubstr("create"));
}

TEST_F(RunFolderOnDisk, WithoutRoomIsRefused) {
  EXPECT_THAT(complaint(path("run"), std::uint64_t{1} << 60),
              HasSubstr("has no room for the recorder"));
}

// As in two containers that share /dev/shm and nothing else.
TEST(RunFolder, OfTheSameNameOnAnotherDiskDoesNotShareTheMemory) {
  std::string pattern = (fs::temp_directory_path() / "everywatt-test-XXXXXX").string();
  const std::string root = ::mkdtemp(pattern.data());
  const std::string path = root + "/run";
  {
    const auto first = take_run_folder(path, 1);
    ASSERT_TRUE(first) << first.error().message;
    if (first->files != path) {
      fs::rename(path, root + "/of-the-other");
      const auto second = take_run_folder(path, 1);
      ASSERT_TRUE(second) << second.error().message;
      EXPECT_EQ(second->files, path);
      EXPECT_THAT(second->warning, HasSubstr("the recorder is written to a disk"));
      fs::remove_all(first->files);
    }
  }
  fs::remove_all(root);
}

TEST_F(RunFolderOnDisk, NamesTheFolderThatStandsInForIt) {
  fs::create_directory(path("run"));
  EXPECT_EQ(recorder_folder(path("run")), path("run"));
  std::ofstream(path("run/elsewhere")) << "/dev/shm/other\n";
  EXPECT_EQ(recorder_folder(path("run")), "/dev/shm/other");
  fs::create_directory(path("odd"));
  ASSERT_EQ(::mkfifo(path("odd/elsewhere").c_str(), 0644), 0);
  EXPECT_EQ(recorder_folder(path("odd")), path("odd"));
  // It is in memory itself: the note is of another day.
  const auto taken = take_run_folder(path("run"), 0);
  ASSERT_TRUE(taken);
  EXPECT_FALSE(fs::exists(path("run/elsewhere")));
}

}  // namespace
}  // namespace everywatt::app
