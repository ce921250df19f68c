// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/spool.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "serve/notify/notify_fixture.h"

namespace everywatt::notify {
namespace {

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    names.push_back(each.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

TEST(Spool, GivesBackWhatItWasGivenAfterARestart) {
  const Folder folder;
  const std::string path = folder.path() + "/ops";
  const Notification notification = memory_notification();
  {
    auto spool = Spool::open(path);
    ASSERT_TRUE(spool) << spool.error().message;
    auto item = spool->add(notification, 5);
    ASSERT_TRUE(item);
    EXPECT_EQ(item->urgency, SpoolItem::Urgency::kNormal);
    item->parts_done = 2;
    ASSERT_TRUE(spool->update(*item));
  }
  const auto spool = Spool::open(path);
  ASSERT_TRUE(spool);
  ASSERT_EQ(spool->found().size(), 1u);
  EXPECT_EQ(spool->found()[0].parts_done, 2u);
  EXPECT_EQ(spool->found()[0].accepted_wall_ns, 5);
  EXPECT_EQ(spool->found()[0].alerts, 2u);
  EXPECT_EQ(*spool->read(spool->found()[0]), notification);
}

TEST(Spool, LetsOnlyItsUserReadIt) {
  const Folder folder;
  auto spool = Spool::open(folder.path() + "/ops");
  ASSERT_TRUE(spool->add(memory_notification(), 0));
  struct stat status{};
  ASSERT_EQ(::stat((folder.path() + "/ops").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat((folder.path() + "/ops/000000000001.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(Spool, SetsAsideWhatIsNoNotificationAndWhatWasHalfWritten) {
  const Folder folder;
  const std::string path = folder.path() + "/ops";
  {
    ASSERT_TRUE(Spool::open(path)->add(memory_notification(), 0));
  }
  for (const char* content :
       {"", "{", "[]", R"({"payload":{}})",
        R"({"accepted_wall_ns":1,"parts_done":0,"replaces":"x","payload":{}})"}) {
    folder.write("ops/000000000007.json", content);
    folder.write("ops/000000000008.tmp", content);
    const auto spool = Spool::open(path);
    ASSERT_TRUE(spool);
    EXPECT_EQ(spool->found().size(), 1u) << content;
    EXPECT_EQ(names_in(path),
              (std::vector<std::string>{"000000000001.json", "000000000007.bad", "failed"}));
  }
}

TEST(Spool, PutsADigestInThePlaceOfWhatItHolds) {
  const Folder folder;
  const std::string path = folder.path() + "/ops";
  auto spool = Spool::open(path);
  std::vector<SpoolItem> items;
  for (int i = 0; i < 3; ++i)
    items.push_back(*spool->add(memory_notification(), 10 - i));
  const auto merged = spool->merge(items);
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->accepted_wall_ns, 8);
  EXPECT_EQ(merged->alerts, 6u);
  EXPECT_EQ(spool->read(*merged)->notifications, 3u);
  EXPECT_EQ(names_in(path), (std::vector<std::string>{"000000000004.json", "failed"}));
}

TEST(Spool, EndsAMergeThatACrashInterrupted) {
  const Folder folder;
  const std::string path = folder.path() + "/ops";
  std::string first;
  {
    auto spool = Spool::open(path);
    const std::vector<SpoolItem> items{*spool->add(memory_notification(), 1),
                                       *spool->add(memory_notification(), 2)};
    first = *base::read_file(path + "/000000000001.json");
    ASSERT_TRUE(spool->merge(items));
  }
  // As if only the second had been removed.
  folder.write("ops/000000000001.json", first);
  const auto spool = Spool::open(path);
  ASSERT_EQ(spool->found().size(), 1u);
  EXPECT_EQ(spool->found()[0].number, 3u);
  EXPECT_EQ(names_in(path), (std::vector<std::string>{"000000000003.json", "failed"}));
}

TEST(Spool, NeverGivesANumberTwice) {
  const Folder folder;
  const std::string path = folder.path() + "/ops";
  {
    auto spool = Spool::open(path);
    (void)spool->add(memory_notification(), 0);
    const auto second = spool->add(memory_notification(), 0);
    ASSERT_TRUE(spool->set_aside(*second));
  }
  auto spool = Spool::open(path);
  EXPECT_EQ(spool->add(memory_notification(), 0)->number, 3u);
}

TEST(Spool, KeepsTheLastHundredThatWereGivenUp) {
  const Folder folder;
  const std::string path = folder.path() + "/ops";
  auto spool = Spool::open(path);
  for (int i = 0; i < 103; ++i) {
    ASSERT_TRUE(spool->set_aside(*spool->add(make_notification({make_alert("A", "", "0")}), 0)));
  }
  const auto kept = names_in(path + "/failed");
  EXPECT_EQ(kept.size(), 100u);
  EXPECT_EQ(kept.front(), "000000000004.json");
}

TEST(Spool, SaysWhereItCannotWrite) {
  EXPECT_FALSE(Spool::open("/nowhere/at/all"));
  const Folder folder;
  auto spool = Spool::open(folder.path() + "/ops");
  std::filesystem::remove_all(folder.path() + "/ops");
  const auto item = spool->add(memory_notification(), 0);
  ASSERT_FALSE(item);
  EXPECT_EQ(item.error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace everywatt::notify
