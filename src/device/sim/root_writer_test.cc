// SPDX-License-Identifier: Apache-2.0
#include "device/sim/root_writer.h"

#include <sys/stat.h>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "device/sim/fake_trace_files.h"
#include "device/sim/patched_library.h"

namespace everywatt::sim {
namespace {

namespace fs = std::filesystem;

class RootWriterTest : public testing::Test {
 protected:
  std::string root() const { return files_.folder() + "/root"; }
  std::string read(const std::string& path) const {
    return base::read_file(root() + "/" + path).value_or("absent");
  }
  ino_t inode(const std::string& path) const {
    struct stat status{};
    ::stat((root() + "/" + path).c_str(), &status);
    return status.st_ino;
  }

  FakeTraceFiles files_;
};

TEST_F(RootWriterTest, WritesFilesLinksAndProcesses) {
  RootWriter writer(root());
  ASSERT_TRUE(writer.write({{"etc/passwd", {"root"}},
                            {"proc/7/stat", {"seven"}},
                            {"proc/7/task/7/children", {""}},
                            {"proc/7/cwd", {"/somewhere", ImageFile::Kind::kLink}}}));
  EXPECT_EQ(read("etc/passwd"), "root");
  EXPECT_EQ(read("proc/7/stat"), "seven");
  EXPECT_EQ(read("proc/7/task/7/children"), "");
  EXPECT_EQ(fs::read_symlink(root() + "/proc/7/cwd"), "/somewhere");
  EXPECT_FALSE(fs::exists(root() + "/.new-process"));
}

TEST_F(RootWriterTest, TouchesOnlyWhatChanged) {
  RootWriter writer(root());
  ASSERT_TRUE(writer.write({{"a", {"1"}}, {"b", {"1"}}}));
  const ino_t unchanged = inode("a");
  const ino_t changed = inode("b");
  ASSERT_TRUE(writer.write({{"a", {"1"}}, {"b", {"2"}}}));
  EXPECT_EQ(inode("a"), unchanged);
  EXPECT_NE(inode("b"), changed);
  EXPECT_EQ(read("b"), "2");
}

TEST_F(RootWriterTest, RemovesAProcessThatEndedWithItsFolder) {
  RootWriter writer(root());
  ASSERT_TRUE(writer.write(
      {{"proc/stat", {"x"}}, {"proc/7/stat", {""}}, {"proc/7/task/7/children", {""}}}));
  ASSERT_TRUE(writer.write({{"proc/stat", {"x"}}}));
  EXPECT_FALSE(fs::exists(root() + "/proc/7"));
  EXPECT_EQ(read("proc/stat"), "x");
}

TEST_F(RootWriterTest, APidThatIsUsedAgainIsANewProcessWithAllItsFilesAtOnce) {
  const auto stat = [](const std::string& start) {
    return ImageFile{"7 (a b) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " + start + " 1 1"};
  };
  RootWriter writer(root());
  ASSERT_TRUE(writer.write({{"proc/7/stat", stat("100")}, {"proc/7/comm", {"old"}}}));
  const auto folder_number = [&] {
    struct stat status{};
    ::stat((root() + "/proc/7").c_str(), &status);
    return status.st_ino;
  };
  const auto first = folder_number();
  ASSERT_TRUE(writer.write({{"proc/7/stat", stat("100")}, {"proc/7/comm", {"same"}}}));
  EXPECT_EQ(folder_number(), first);
  ASSERT_TRUE(writer.write({{"proc/7/stat", stat("200")}, {"proc/7/comm", {"new"}}}));
  EXPECT_NE(folder_number(), first);
  EXPECT_EQ(read("proc/7/comm"), "new");
}

TEST_F(RootWriterTest, RemovesProcessesOfAnEarlierPlayer) {
  ASSERT_TRUE(RootWriter(root()).write({{"proc/7/stat", {"old"}}, {"proc/8/stat", {"old"}}}));
  ASSERT_TRUE(RootWriter(root()).write({{"proc/8/stat", {"new"}}}));
  EXPECT_FALSE(fs::exists(root() + "/proc/7"));
  EXPECT_EQ(read("proc/8/stat"), "new");
}

TEST_F(RootWriterTest, SaysWhereItCannotWrite) {
  std::ofstream(root()) << "a file";
  const base::Status written = RootWriter(root()).write({{"a", {"1"}}});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(root()), std::string::npos);
}

TEST_F(RootWriterTest, ACopiedLibraryLacksTheNamedFunctionsOnly) {
  const std::string from = files_.folder() + "/from";
  const std::string to = files_.folder() + "/to";
  std::ofstream(from, std::ios::binary) << std::string("\0nvmlOne\0nvmlOne_v2\0nvmlTwo\0", 28);
  ASSERT_TRUE(copy_without(from, "nvmlOne,nvmlTwo", to));
  EXPECT_EQ(*base::read_file(to), std::string("\0-vmlOne\0nvmlOne_v2\0-vmlTwo\0", 28));
  const base::Status refused = copy_without(from, "nvmlThree", to);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace everywatt::sim
