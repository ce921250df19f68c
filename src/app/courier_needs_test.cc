// SPDX-License-Identifier: Apache-2.0
#include "app/courier_needs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "app/rights.h"

namespace everywatt::app {
namespace {

class SpoolFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "spool-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(SpoolFolder, IsMadeForTheCouriersUserAlone) {
  const std::string data = folder_ + "/new/data";
  ASSERT_TRUE(open_spool_folder(data));
  ASSERT_TRUE(open_spool_folder(data));
  struct stat about{};
  ASSERT_EQ(::stat((data + "/spool").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0700U);
  EXPECT_EQ(about.st_uid, ::geteuid() == 0 ? find_server_user().uid : ::geteuid());
}

TEST_F(SpoolFolder, OthersAreShutOutOfOneThatIsThere) {
  ASSERT_TRUE(open_spool_folder(folder_));
  ASSERT_EQ(::chmod((folder_ + "/spool").c_str(), 0777), 0);
  ASSERT_TRUE(open_spool_folder(folder_));
  struct stat about{};
  ASSERT_EQ(::stat((folder_ + "/spool").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0700U);
}

TEST_F(SpoolFolder, ALinkIsNotFollowed) {
  ASSERT_EQ(::symlink("/", (folder_ + "/spool").c_str()), 0);
  EXPECT_FALSE(open_spool_folder(folder_));
}

TEST_F(SpoolFolder, OneOfAnotherUserIsNotTaken) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::mkdir((folder_ + "/spool").c_str(), 0700), 0);
  const auto opened = open_spool_folder(folder_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::Code::kNoPermission);
}

TEST(NeedsCourier, OnlyWhenSomethingIsToBeSent) {
  Config config;
  EXPECT_FALSE(needs_courier(config));
  config.channels.push_back({.name = "ops"});
  EXPECT_TRUE(needs_courier(config));
  Config other;
  other.remote_writes.push_back({.name = "c", .url = "http://h"});
  EXPECT_TRUE(needs_courier(other));
}

TEST(SecretVariables, AreTakenOutOfTheEnvironment) {
  Config config;
  config.channels.push_back({.name = "ops", .url_source = {.file = "", .env = "EW_TEST_URL"}});
  config.channels.push_back({.name = "two", .url_source = {.file = "/file", .env = ""}});
  config.remote_writes.push_back({.name = "c", .url = "http://h", .token = {"", "EW_TEST_TOKEN"}});
  ::setenv("EW_TEST_URL", "https://secret", 1);
  ::unsetenv("EW_TEST_TOKEN");
  const auto taken = take_secret_variables(config);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken.front(), (std::pair<std::string, std::string>("EW_TEST_URL", "https://secret")));
  EXPECT_EQ(std::getenv("EW_TEST_URL"), nullptr);
}

}  // namespace
}  // namespace everywatt::app
