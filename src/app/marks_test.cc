// SPDX-License-Identifier: Apache-2.0
#include "app/marks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include <filesystem>

#include "app/local_socket.h"
#include "base/file.h"
#include "catalog/row.h"
#include "record/recorder/layout.h"
#include "record/recorder/reader.h"

namespace everywatt::app {
namespace {

using catalog::MetricId;

class MarksTest : public testing::Test {
 protected:
  MarksTest() {
    std::string name = (std::filesystem::temp_directory_path() / "marks.XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    folder_.path = root_ + "/run";
    folder_.files = root_ + "/run";
    std::filesystem::create_directory(folder_.path);
    data_ = root_ + "/lib/everywatt";
  }
  ~MarksTest() override { std::filesystem::remove_all(root_); }

  static void leave_mark(recorder::File& file, std::string_view text) {
    catalog::Row row(catalog::Scope::kNode, catalog::Lane::kEvent);
    row.set_text(MetricId::annotation_text, text);
    file.writer(0, catalog::Lane::kEvent)->append(row);
  }
  std::uint64_t rows(const std::string& name) const {
    const auto reader = recorder::Reader::open(data_ + "/" + name);
    return reader ? (*reader)->published(0) : 0;
  }

  std::string root_;
  std::string data_;
  RunFolder folder_;
};

TEST_F(MarksTest, HaveASocketForAllAndAJournalForFew) {
  const auto marks = Marks::open(folder_, data_);
  ASSERT_TRUE(marks) << marks.error().message;
  struct stat about{};
  ASSERT_EQ(::stat((folder_.path + "/annotate.sock").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0666u);
  ASSERT_EQ(::stat((data_ + "/journal").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0640u);
  EXPECT_EQ(std::filesystem::read_symlink(folder_.files + "/journal"), data_ + "/journal");
  EXPECT_TRUE(send_mark(folder_.path, R"({"text":"x"})"));
}

TEST_F(MarksTest, ComeThroughASocketThatSendsNothing) {
  const auto marks = Marks::open(folder_, data_);
  ASSERT_TRUE(marks) << marks.error().message;
  const base::UniqueFd folder(::open(folder_.path.c_str(), O_PATH | O_CLOEXEC));
  const auto other = bind_local(folder, "other", SOCK_DGRAM, 0600);
  ASSERT_TRUE(other) << other.error().message;
  const LocalAddress address = local_address(folder, "other");
  EXPECT_EQ(::sendto(marks->socket(), "x", 1, MSG_NOSIGNAL, address.get(), LocalAddress::kSize),
            -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST_F(MarksTest, AreRefusedWhereThereIsNoDaemon) {
  ASSERT_TRUE(Marks::open(folder_, data_).has_value());
  const auto sent = send_mark(folder_.path, R"({"text":"x"})");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, base::Code::kUnavailable);
  EXPECT_FALSE(send_mark(folder_.path, std::string(2049, 'x')));
}

TEST_F(MarksTest, GoOnInTheJournalOfThisBoot) {
  {
    auto marks = Marks::open(folder_, data_);
    ASSERT_TRUE(marks);
    leave_mark(marks->journal(), "one");
  }
  ASSERT_TRUE(Marks::open(folder_, data_).has_value());
  EXPECT_EQ(rows("journal"), 1u);
  EXPECT_FALSE(std::filesystem::exists(data_ + "/journal.1"));
}

TEST_F(MarksTest, OfEarlierBootsAreKeptAside) {
  std::filesystem::create_directories(data_);
  for (int boot = 1; boot <= 2; ++boot) {
    recorder::LayoutOptions layout = recorder::journal_layout();
    layout.origin = recorder::Origin{};
    layout.origin->boot_id.fill(static_cast<std::uint8_t>(boot));
    const auto old = recorder::File::create(data_ + "/journal", 0640, layout);
    ASSERT_TRUE(old);
    for (int mark = 0; mark < boot; ++mark) {
      leave_mark(**old, "of an earlier boot");
    }
    ASSERT_TRUE(Marks::open(folder_, data_).has_value());
    // An empty one is not worth keeping, and this boot's is taken up when it comes back.
    EXPECT_EQ(rows("journal"), 0u);
  }
  EXPECT_EQ(rows("journal.1"), 2u);
  EXPECT_EQ(rows("journal.2"), 1u);
}

TEST_F(MarksTest, ThatAreNoJournalAreKeptAsideToo) {
  std::filesystem::create_directories(data_);
  ASSERT_TRUE(base::write_file_atomically(data_ + "/journal", "precious", 0600));
  ASSERT_TRUE(Marks::open(folder_, data_).has_value());
  EXPECT_EQ(base::read_file(data_ + "/journal.1").value_or(""), "precious");
}

TEST_F(MarksTest, AreOneDaemonsAlone) {
  const auto first = Marks::open(folder_, data_);
  ASSERT_TRUE(first);
  const auto second = Marks::open(folder_, data_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kUnavailable);
}

TEST_F(MarksTest, NeedAFolderThatIsOursAlone) {
  std::filesystem::create_directories(data_);
  ::chmod(data_.c_str(), 0777);
  EXPECT_EQ(Marks::open(folder_, data_).error().code, base::Code::kNoPermission);
  EXPECT_FALSE(Marks::open(folder_, ""));
  EXPECT_FALSE(Marks::open(folder_, "/proc/no/such"));
}

TEST_F(MarksTest, OfAnEarlierDaemonAreForgotten) {
  ASSERT_TRUE(Marks::open(folder_, data_).has_value());
  forget_marks(folder_);
  EXPECT_FALSE(
      std::filesystem::exists(std::filesystem::symlink_status(folder_.files + "/journal")));
}

TEST(DataFolder, IsTheOneAskedForElseTheMachinesElseTheUsers) {
  EXPECT_EQ(choose_data_folder({.asked = "/d", .home = "/h", .uid = 0}), "/d");
  EXPECT_EQ(choose_data_folder({.asked = "", .home = "/h", .uid = 0}), "/var/lib/everywatt");
  EXPECT_EQ(choose_data_folder({.asked = "", .home = "/h", .uid = 7}), "/h/.local/share/everywatt");
  EXPECT_EQ(choose_data_folder({.asked = "", .home = "", .uid = 7}), "");
}

}  // namespace
}  // namespace everywatt::app
