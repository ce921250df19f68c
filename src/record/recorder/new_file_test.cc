// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/new_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "record/recorder/pattern_row.h"
#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

using base::Code;
using catalog::Lane;

// What one may meet at a recorder file's name.
class NewFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "recorder-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/recorder";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  base::Result<std::unique_ptr<File>> create() {
    return File::create(path_, 0640, small_layout(4));
  }
  void put(std::string_view content) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
  }
  void put(const std::vector<std::byte>& image) {
    put(std::string_view(reinterpret_cast<const char*>(image.data()), image.size()));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator(folder_)) {
      found.push_back(each.path().filename());
    }
    return found;
  }

  std::string folder_;
  std::string path_;
};

TEST_F(NewFileTest, HasExactlyTheModeAskedForAndLeavesNothingElse) {
  const mode_t before = ::umask(0077);
  const auto file = create();
  ::umask(before);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
  EXPECT_EQ(names(), (std::vector<std::string>{"recorder"}));
  EXPECT_TRUE(Reader::open(path_).has_value());
}

TEST_F(NewFileTest, ItsNameAppearsWithCommit) {
  auto file = File::prepare(path_, 0644, small_layout(4)).value();
  EXPECT_EQ(Reader::open(path_).error().code, Code::kNotFound);
  ASSERT_TRUE(file->commit().has_value());
  EXPECT_TRUE(Reader::open(path_).has_value());
}

TEST_F(NewFileTest, WithoutCommitItVanishes) {
  File::prepare(path_, 0644, small_layout(4)).value().reset();
  EXPECT_TRUE(names().empty());
}

TEST_F(NewFileTest, AReaderOfTheOldFileKeepsItAndHearsOfTheNewOne) {
  const auto old_file = create().value();
  Writer writer = old_file->writer(kSmallFileGpu, Lane::kGauge).value();
  catalog::Row row(catalog::Scope::kGpu, Lane::kGauge);
  fill_pattern(0, 1, row);
  writer.append(row);
  const auto reader = Reader::open(path_).value();
  EXPECT_FALSE(reader->has_successor());

  const auto new_file = create().value();
  EXPECT_TRUE(reader->has_successor());
  const std::uint32_t ring = reader->find_ring(kSmallFileGpu, Lane::kGauge).value();
  ASSERT_EQ(reader->read(ring, 0, row), RowState::kOk);
  EXPECT_TRUE(is_pattern(0, row));
  const auto next = Reader::open(path_).value();
  EXPECT_FALSE(next->has_successor());
  EXPECT_EQ(next->published(ring), 0U);
}

TEST_F(NewFileTest, WhatADeadProcessOfOurNumberLeftIsReplaced) {
  std::ofstream(path_ + "." + std::to_string(::getpid()) + ".tmp") << "left";
  EXPECT_TRUE(create().has_value());
  EXPECT_EQ(names(), (std::vector<std::string>{"recorder"}));
}

// Killed before it gave its file a name, and by now another process may have the number, or none.
TEST_F(NewFileTest, WhatKilledProcessesLeftIsRemovedByTheNextOne) {
  for (const char* number : {"1", "77777", "4194303"}) {
    std::ofstream(path_ + "." + number + ".tmp") << "left";
  }
  const std::string other = path_ + ".x1.tmp";
  std::ofstream(other) << "not of our making";
  EXPECT_TRUE(create().has_value());
  EXPECT_THAT(names(), testing::UnorderedElementsAre("recorder", "recorder.x1.tmp"));
}

TEST_F(NewFileTest, AFileBeingMadeIsLeftToItsProcessWhileThatLives) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto file = File::prepare(path_, 0644, small_layout(4));
    static_cast<void>(!::write(ready[1], file ? "y" : "n", 1));
    ::pause();
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  // As long as it lives, its file is not taken from it.
  create().value();
  EXPECT_EQ(names().size(), 2U);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(names().size(), 2U);
  create().value();
  EXPECT_EQ(names(), (std::vector<std::string>{"recorder"}));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(NewFileTest, ASymbolicLinkIsRefused) {
  const std::string target = folder_ + "/target";
  std::ofstream(target) << "precious";
  ASSERT_EQ(::symlink(target.c_str(), path_.c_str()), 0);
  const auto file = create();
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, Code::kInvalidArgument);
  EXPECT_EQ(file.error().message, path_ + " is a symbolic link");
  EXPECT_EQ(std::filesystem::file_size(target), 8U);
  EXPECT_EQ(Reader::open(path_).error().message, path_ + " is a symbolic link");
}

TEST_F(NewFileTest, SomebodyElsesFileIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  create().value();
  ASSERT_EQ(::chown(path_.c_str(), 12345, 12345), 0);
  const auto file = create();
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, Code::kNoPermission);
  EXPECT_EQ(file.error().message, path_ + " belongs to another user (uid 12345)");
}

TEST_F(NewFileTest, WhatIsNoRecorderFileIsLeftAlone) {
  put("my notes of the year, which nobody else has\n");
  const auto file = create();
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, Code::kInvalidArgument);
  EXPECT_EQ(file.error().message, path_ + " exists and is not a recorder file");
  EXPECT_EQ(Reader::open(path_).error().message, path_ + " is not a recorder file");

  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_EQ(create().error().message, path_ + " is not a regular file");
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(create().error().message, path_ + " is not a regular file");
  EXPECT_EQ(Reader::open(path_).error().message, path_ + " is not a regular file");
}

// A power cut on a disk keeps a name and loses what it names.
TEST_F(NewFileTest, EmptyAndBlankFilesAreReplaced) {
  put("");
  EXPECT_TRUE(create().has_value());
  put(std::string(10'000, '\0'));
  EXPECT_TRUE(create().has_value());
}

TEST_F(NewFileTest, FilesOfOtherVersionsAreReplacedAndNotTouched) {
  for (const std::uint32_t version : {0U, kVersion + 1}) {
    std::vector<std::byte> image = image_of(*create().value());
    poke(image, offsetof(Header, version), version);
    put(image);
    const base::UniqueFd old(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(create().has_value());
    std::vector<std::byte> left(image.size());
    ASSERT_EQ(::pread(old.get(), left.data(), left.size(), 0), static_cast<ssize_t>(left.size()));
    EXPECT_EQ(left, image);
  }
}

TEST_F(NewFileTest, AFolderThatIsNotThereIsSaid) {
  path_ = folder_ + "/no/such/recorder";
  const auto file = create();
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, Code::kNotFound);
  EXPECT_EQ(file.error().message,
            "cannot create a file in " + folder_ + "/no/such: No such file or directory");
}

}  // namespace
}  // namespace everywatt::recorder
