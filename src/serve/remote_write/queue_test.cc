// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "serve/remote_write/queue_fixture.h"

namespace everywatt::remote_write {
namespace {

using Strings = std::vector<std::string>;

class QueueTest : public ::testing::Test {
 protected:
  std::unique_ptr<Queue> open(std::uint64_t boot = kBoot, std::uint64_t limit = 1u << 20) {
    return open_queue(folder_.path() + "/q", boot, limit);
  }
  std::string segment() { return only_segment(folder_.path() + "/q"); }

  TestFolder folder_;
};

TEST_F(QueueTest, GivesBackWhatItWasGivenInOrder) {
  const auto queue = open();
  EXPECT_EQ(queue->queued_samples(), 0u);
  EXPECT_FALSE(*queue->next());
  ASSERT_TRUE(append_one(*queue, 1, 3));
  ASSERT_TRUE(append_one(*queue, 2, 4));
  EXPECT_EQ(queue->queued_samples(), 7u);
  const auto item = queue->next();
  ASSERT_TRUE(item && *item);
  EXPECT_EQ((*item)->body, body_of(1, 3).bytes);
  EXPECT_EQ((*item)->record.samples, 3u);
  EXPECT_EQ((*item)->record.moment, moment_of(1));
  EXPECT_EQ(settle_all(*queue), (Strings{"3@0", "4@3"}));
  EXPECT_EQ(queue->queued_samples(), 0u);
}

TEST_F(QueueTest, TheSameItemComesAgainUntilItIsSettled) {
  const auto queue = open();
  ASSERT_TRUE(append_one(*queue, 1, 10));
  for (int i = 0; i < 3; ++i) {
    const auto item = queue->next();
    EXPECT_EQ((*item)->from, 0u);
  }
  const auto item = queue->next();
  queue->settle(**item, 0, 4);
  const auto rest = queue->next();
  EXPECT_EQ((*rest)->from, 4u);
  EXPECT_EQ((*rest)->body, (*item)->body);
  queue->settle(**rest, 4, 10);
  EXPECT_FALSE(*queue->next());
}

TEST_F(QueueTest, OutlivesTheProcessAtAnyPoint) {
  open();
  ASSERT_TRUE(append_one(*open(), 1, 3));
  ASSERT_TRUE(append_one(*open(), 2, 4));
  {
    const auto queue = open();
    EXPECT_EQ(queue->last_moment(), moment_of(2));
    const auto item = queue->next();
    queue->settle(**item, 0, 2);
  }
  const auto queue = open();
  EXPECT_EQ(queue->queued_samples(), 5u);
  EXPECT_EQ(settle_all(*queue), (Strings{"1@2", "4@3"}));
  EXPECT_EQ(queue->damaged_samples() + queue->damaged_places() + queue->dropped_samples(), 0u);
}

TEST_F(QueueTest, KnowsWhereToGoOnWhenAllWasSent) {
  {
    const auto queue = open();
    ASSERT_TRUE(append_one(*queue, 1));
    ASSERT_TRUE(append_one(*queue, 2));
    settle_all(*queue);
  }
  std::filesystem::remove(segment());
  const auto queue = open();
  EXPECT_EQ(queue->last_moment(), moment_of(2));
  ASSERT_TRUE(append_one(*queue, 3));
  EXPECT_EQ(settle_all(*queue), (Strings{"3@6"}));
}

TEST_F(QueueTest, AGroupIsWrittenAsAWhole) {
  const auto queue = open();
  const std::vector<exporter::Body> bodies{body_of(1, 2000), body_of(1, 2000), body_of(1, 7)};
  ASSERT_TRUE(queue->append(bodies, moment_of(1)));
  EXPECT_EQ(queue->queued_samples(), 4007u);
  EXPECT_EQ(settle_all(*queue), (Strings{"2000@0", "2000@2000", "7@4000"}));
}

TEST_F(QueueTest, IsOfOneProcessAtATime) {
  const auto queue = open();
  const auto second = Queue::open({.folder = folder_.path() + "/q"});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kUnavailable);
}

TEST_F(QueueTest, FilesOfSamplesGoWhenTheyAreSettled) {
  const auto queue = open();
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(append_one(*queue, i, 3, 8000));
  EXPECT_GT(queue->queued_bytes(), 800'000u);
  EXPECT_EQ(settle_all(*queue).size(), 100u);
  EXPECT_LE(queue->queued_bytes(), 65'536u);
  EXPECT_TRUE(std::filesystem::exists(segment()));
}

TEST_F(QueueTest, FullItDropsTheOldestAndCountsEverySample) {
  constexpr std::uint64_t kLimit = 1u << 20;
  const auto queue = open(kBoot, kLimit);
  std::uint64_t written = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(append_one(*queue, i, static_cast<std::size_t>(1 + i % 7), 4000));
    written += static_cast<std::uint64_t>(1 + i % 7);
    EXPECT_LE(queue->queued_bytes(), kLimit);
    EXPECT_EQ(queue->queued_samples() + queue->dropped_samples(), written);
  }
  // What there is room for is there: all but the one file that had to go.
  EXPECT_GT(queue->queued_bytes(), kLimit - 2 * 65'536);
  const std::uint64_t left = queue->queued_samples();
  std::uint64_t sent = 0;
  std::uint64_t expected_from = written - left;
  while (const auto item = *queue->next()) {
    EXPECT_EQ(item->from, expected_from);
    expected_from = item->record.end();
    sent += item->record.samples;
    queue->settle(*item, item->from, item->record.end());
  }
  EXPECT_EQ(sent, left);
  EXPECT_EQ(sent + queue->dropped_samples(), written);
}

TEST_F(QueueTest, WhatWasOnItsWayWhenItWasDroppedIsNotCountedAsDropped) {
  const auto queue = open(kBoot, 1u << 20);
  ASSERT_TRUE(append_one(*queue, 0, 5, 4000));
  const auto item = queue->next();
  for (int i = 1; i < 400; ++i)
    ASSERT_TRUE(append_one(*queue, i, 5, 4000));
  const std::uint64_t dropped = queue->dropped_samples();
  EXPECT_GT(dropped, 5u);
  queue->settle(**item, 0, 5);
  EXPECT_EQ(queue->dropped_samples(), dropped - 5);
  EXPECT_EQ(queue->queued_samples(), 2000 - dropped);
}

TEST_F(QueueTest, WithoutWordOnWhatIsSettledAllThatIsThereIsSentAgain) {
  {
    const auto queue = open();
    ASSERT_TRUE(append_one(*queue, 1));
    ASSERT_TRUE(append_one(*queue, 2));
    queue->settle(**queue->next(), 0, 3);
  }
  write_bytes(folder_.path() + "/q/settled", std::string(128, '\xff'));
  EXPECT_EQ(settle_all(*open()), (Strings{"3@0", "3@3"}));
}

TEST_F(QueueTest, ATornCopyOfWhatIsSettledCostsTheLastStepOnly) {
  for (std::size_t byte = 0; byte < 2 * kSettledBytes; ++byte) {
    const TestFolder folder;
    {
      const auto queue = open_queue(folder.path() + "/q");
      for (int i = 0; i < 5; ++i)
        ASSERT_TRUE(append_one(*queue, i));
      for (int i = 0; i < 4; ++i) {
        const auto item = *queue->next();
        queue->settle(*item, item->from, item->record.end());
      }
    }
    const std::string path = folder.path() + "/q/settled";
    std::string bytes = read_bytes(path);
    bytes[byte] = static_cast<char>(bytes[byte] ^ 1);
    write_bytes(path, bytes);
    EXPECT_LE(open_queue(folder.path() + "/q")->queued_samples(), 6u) << byte;
  }
}

TEST_F(QueueTest, AFileThatIsGoneIsCountedSampleBySample) {
  std::vector<std::string> files;
  {
    const auto queue = open();
    for (int i = 0; i < 40; ++i)
      ASSERT_TRUE(append_one(*queue, i, 3, 8000));
    for (const auto& file : std::filesystem::directory_iterator(folder_.path() + "/q")) {
      if (file.path().extension() == ".samples") files.push_back(file.path());
    }
  }
  std::ranges::sort(files);
  ASSERT_GE(files.size(), 3u);
  std::filesystem::remove(files[1]);
  const auto queue = open();
  const std::size_t records = settle_all(*queue).size();
  EXPECT_EQ(3 * records + queue->damaged_samples(), 120u);
  EXPECT_LT(records, 40u);
  EXPECT_EQ(queue->queued_samples(), 0u);
}

// Whatever byte of a queue's file a disk changed, and wherever it ends.
class DamagedQueueTest : public QueueTest {
 protected:
  static constexpr int kRecords = 4;

  // What is sent of the file `bytes`, opened in another boot: nothing can be taken again.
  void check(const std::string& bytes, const std::string& where) {
    const TestFolder folder;
    std::filesystem::create_directory(folder.path() + "/q");
    write_bytes(folder.path() + "/q/" + name_, bytes);
    const auto queue = open_queue(folder.path() + "/q", kBoot + 1);
    const std::uint64_t known = queue->queued_samples();
    const Strings sent = settle_all(*queue);
    EXPECT_GE(sent.size(), static_cast<std::size_t>(whole_)) << where;
    EXPECT_LE(sent.size(), static_cast<std::size_t>(whole_) + 1) << where;
    EXPECT_EQ(3 * sent.size() + queue->damaged_samples(), known) << where;
    EXPECT_EQ(queue->queued_samples(), 0u) << where;
    // And it goes on.
    ASSERT_TRUE(append_one(*queue, 9)) << where;
    EXPECT_EQ(settle_all(*queue), (Strings{fmt::format("3@{}", known)})) << where;
  }

  void SetUp() override {
    const auto queue = open();
    for (int i = 0; i < kRecords; ++i)
      ASSERT_TRUE(append_one(*queue, i));
    bytes_ = read_bytes(segment());
    name_ = std::filesystem::path(segment()).filename();
  }

  std::string bytes_;
  std::string name_;
  int whole_ = 0;
};

TEST_F(DamagedQueueTest, ATruncationCostsWhatIsBehindIt) {
  const std::size_t record = bytes_.size() / kRecords;
  for (std::size_t size = 0; size <= bytes_.size(); ++size) {
    whole_ = static_cast<int>(size / record);
    check(bytes_.substr(0, size), fmt::format("cut at {}", size));
    if (HasFailure()) return;
  }
}

TEST_F(DamagedQueueTest, AChangedByteCostsItsRecord) {
  whole_ = kRecords - 1;
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bytes = bytes_;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      check(bytes, fmt::format("byte {} changed", at));
      if (HasFailure()) return;
    }
  }
}

// The recorder still has what was being written when the process was killed.
TEST_F(DamagedQueueTest, ATornEndOfThisBootIsAsIfItHadNeverBeen) {
  const std::size_t record = bytes_.size() / kRecords;
  for (std::size_t size = 3 * record + 1; size < bytes_.size(); ++size) {
    write_bytes(segment(), bytes_.substr(0, size));
    const auto queue = open();
    EXPECT_EQ(queue->last_moment(), moment_of(2)) << size;
    EXPECT_EQ(queue->queued_samples(), 9u) << size;
    EXPECT_EQ(queue->damaged_places(), 1u) << size;
    ASSERT_TRUE(append_one(*queue, 3));
    EXPECT_EQ(queue->queued_samples(), 12u) << size;
  }
}

TEST_F(QueueTest, AGroupOfThisBootThatIsNotWholeIsTakenAgainAndOneOfAnotherIsSent) {
  std::string whole;
  {
    const auto queue = open();
    ASSERT_TRUE(append_one(*queue, 1, 3));
    const std::vector<exporter::Body> bodies{body_of(2, 2), body_of(2, 2), body_of(2, 1)};
    ASSERT_TRUE(queue->append(bodies, moment_of(2)));
    whole = read_bytes(segment());
  }
  const std::size_t record = whole.size() / 4;
  for (std::size_t size = record + 1; size < whole.size(); ++size) {
    write_bytes(segment(), whole.substr(0, size));
    {
      const auto queue = open(kBoot + 1);
      EXPECT_EQ(settle_all(*queue).size(), size / record) << size;
      // Its first record says how many samples there were.
      if (size >= record + kRecordHeadBytes) {
        EXPECT_EQ(queue->damaged_samples(), 8 - 3 - 2 * (size / record - 1)) << size;
      }
    }
    std::filesystem::remove(folder_.path() + "/q/settled");
    write_bytes(segment(), whole.substr(0, size));
    const auto queue = open(kBoot);
    EXPECT_EQ(queue->last_moment(), moment_of(1)) << size;
    EXPECT_EQ(queue->queued_samples(), 3u) << size;
  }
}

}  // namespace
}  // namespace everywatt::remote_write
