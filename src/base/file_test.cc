// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/mapped_file.h"

namespace everywatt::base {
namespace {

using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = testing::TempDir() + "everywatt_file_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string with_content(const std::string& name, std::string_view content) const {
    EXPECT_TRUE(write_file_atomically(path(name), content, 0600));
    return path(name);
  }

 private:
  std::string folder_;
};

TEST_F(FileTest, ReadsWhatWasWritten) {
  const std::string content(10'000, 'x');
  EXPECT_EQ(*read_file(with_content("a", content)), content);
  EXPECT_EQ(*read_file(with_content("b", "")), "");
}

TEST_F(FileTest, AFileThatSaysItIsEmptyIsReadToItsEnd) {
  EXPECT_THAT(*read_file("/proc/self/stat"), HasSubstr(std::to_string(::getpid())));
}

TEST_F(FileTest, AMissingFileIsNotFoundAndNamed) {
  const auto read = read_file(path("nowhere"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kNotFound);
  EXPECT_EQ(read.error().message, "cannot open " + path("nowhere") + ": No such file or directory");
}

TEST_F(FileTest, AFileAboveTheLimitIsRefused) {
  const std::string file = with_content("large", std::string(5000, 'x'));
  EXPECT_TRUE(read_file(file, 5000));
  const auto read = read_file(file, 4999);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kInvalidArgument);
  EXPECT_EQ(read.error().message, file + " is larger than 4999 bytes");
}

TEST_F(FileTest, AFolderIsNoFile) {
  EXPECT_EQ(read_file(path("")).error().code, Code::kIo);
}

TEST_F(FileTest, WritingReplacesTheWholeFileAndLeavesNothingBeside) {
  const std::string file = with_content("state", "a longer content");
  ASSERT_TRUE(write_file_atomically(file, "short", 0640));
  EXPECT_EQ(*read_file(file), "short");
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  const std::filesystem::directory_iterator files(path(""));
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(FileTest, WritingIntoAMissingFolderFailsWithItsName) {
  const Status written = write_file_atomically(path("no/file"), "x", 0600);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kNotFound);
  EXPECT_THAT(written.error().message, HasSubstr(path("no/file")));
}

TEST_F(FileTest, WritingOntoAFolderFailsAndLeavesNothingBeside) {
  std::filesystem::create_directory(path("taken"));
  EXPECT_FALSE(write_file_atomically(path("taken"), "x", 0600));
  const std::filesystem::directory_iterator files(path(""));
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

using MappedFileTest = FileTest;

TEST_F(MappedFileTest, ShowsTheContentOfTheFile) {
  const auto mapped = MappedFile::open(with_content("m", "hello"), MapAccess::kReadOnly);
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->size(), 5u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(mapped->bytes()), 5), "hello");
}

TEST_F(MappedFileTest, WritesReachTheFile) {
  const std::string file = with_content("m", "hello");
  {
    const auto mapped = MappedFile::open(file, MapAccess::kReadWrite);
    ASSERT_TRUE(mapped);
    mapped->bytes()[0] = std::byte{'j'};
  }
  EXPECT_EQ(*read_file(file), "jello");
}

TEST_F(MappedFileTest, MovingHandsTheMappingOver) {
  auto first = MappedFile::open(with_content("m", "one"), MapAccess::kReadOnly);
  auto second = MappedFile::open(with_content("n", "three"), MapAccess::kReadOnly);
  const std::byte* bytes = first->bytes();
  *second = std::move(*first);
  EXPECT_EQ(second->bytes(), bytes);
  EXPECT_EQ(second->size(), 3u);
  EXPECT_EQ(first->bytes(), nullptr);
  EXPECT_EQ(first->size(), 0u);
  const MappedFile third(std::move(*second));
  EXPECT_EQ(third.bytes(), bytes);
}

TEST_F(MappedFileTest, RefusesWhatCannotBeARecorder) {
  EXPECT_EQ(MappedFile::open(with_content("empty", ""), MapAccess::kReadOnly).error().code,
            Code::kCorrupt);
  EXPECT_EQ(MappedFile::open(path("nowhere"), MapAccess::kReadOnly).error().code, Code::kNotFound);
  EXPECT_EQ(MappedFile::open(path(""), MapAccess::kReadOnly).error().message,
            path("") + " is not a regular file");
  std::filesystem::create_symlink(with_content("real", "x"), path("link"));
  EXPECT_FALSE(MappedFile::open(path("link"), MapAccess::kReadOnly));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::open(path("pipe"), MapAccess::kReadOnly).error().code,
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace everywatt::base
