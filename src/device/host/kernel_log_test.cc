// SPDX-License-Identifier: Apache-2.0
#include "device/host/kernel_log.h"

#include <gtest/gtest.h>

#include "device/host/fake_root.h"

namespace everywatt::host {
namespace {

TEST(KernelRecord, IsReadFromItsLine) {
  const auto record = parse_kernel_record("4,1234,98765432,-;NVRM: hello\n SUBSYSTEM=pci\n");
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->priority, 4u);
  EXPECT_EQ(record->sequence, 1234u);
  EXPECT_EQ(record->time_ns, 98'765'432'000);
  EXPECT_EQ(record->text, "NVRM: hello");
  // Facility 3 (a daemon), and more after the flags as later kernels may add.
  EXPECT_EQ(parse_kernel_record("30,1,2,c,caller=T1;x")->priority, 6u);
}

TEST(KernelRecord, IsUnescapedAndCleaned) {
  EXPECT_EQ(parse_kernel_record("4,1,2,-;a\\x0ab\\x5cn\\xzz\\x4")->text, "a b\\n\\xzz\\x4");
  EXPECT_EQ(parse_kernel_record("4,1,2,-;" + std::string(5000, 'x'))->text.size(),
            kKernelTextBytes);
  EXPECT_EQ(parse_kernel_record("4,1,2,-;")->text, "");
}

TEST(KernelRecord, IsNothingElse) {
  for (const char* text : {"", "hello", ";", ",,,;x", "4,1;x", "4,1,99999999999999999999,-;x",
                           "-4,1,2,-;x", "a,b,c,d;x", "4,1,2,-"}) {
    EXPECT_FALSE(parse_kernel_record(text).has_value()) << text;
  }
}

class PlainKernelLog : public ::testing::Test {
 protected:
  std::vector<std::string> read(KernelLog& log, std::size_t limit = 100) {
    std::vector<KernelRecord> records;
    log.read(limit, records);
    std::vector<std::string> texts;
    for (const KernelRecord& record : records)
      texts.push_back(record.text);
    return texts;
  }

  FakeRoot fake_;
  std::string path_ = fake_.folder() + "/log";
};

using Texts = std::vector<std::string>;

TEST_F(PlainKernelLog, IsReadFromItsStartAndFollowed) {
  fake_.write("/log", "4,1,1,-;one\n SUBSYSTEM=pci\n4,2,2,-;two\n");
  auto log = KernelLog::open(path_);
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(read(*log), (Texts{"one", "two"}));
  EXPECT_EQ(read(*log), Texts{});
  fake_.append("/log", "4,3,3,-;three\n4,4,4,-;fo");
  EXPECT_EQ(read(*log), Texts{"three"});
  fake_.append("/log", "ur\n");
  EXPECT_EQ(read(*log), Texts{"four"});
  EXPECT_EQ(log->malformed(), 0u);
}

TEST_F(PlainKernelLog, IsReadInPiecesOfTheLimit) {
  fake_.write("/log", "4,1,1,-;one\n4,2,2,-;two\n4,3,3,-;three\n");
  auto log = KernelLog::open(path_);
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(read(*log, 2), (Texts{"one", "two"}));
  EXPECT_EQ(read(*log, 2), Texts{"three"});
}

TEST_F(PlainKernelLog, SkipsAndCountsWhatIsNoRecord) {
  fake_.write("/log", "garbage\n\n4,1,1,-;one\n" + std::string(20'000, 'x') + "\n4,2,2,-;two\n");
  auto log = KernelLog::open(path_);
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(read(*log), (Texts{"one", "two"}));
  EXPECT_EQ(log->malformed(), 2u);
}

TEST_F(PlainKernelLog, IsFollowedOverReplacementAndTruncation) {
  fake_.write("/log", "4,1,1,-;one\n");
  auto log = KernelLog::open(path_);
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(read(*log), Texts{"one"});
  fake_.write("/log", "4,2,2,-;two\n");  // another file by the same name
  EXPECT_EQ(read(*log), Texts{"two"});
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(read(*log), Texts{});
  fake_.append("/log", "4,3,3,-;three\n");
  EXPECT_EQ(read(*log), Texts{"three"});
}

TEST_F(PlainKernelLog, DoesNotOpenWhatIsNeitherAFileNorADevice) {
  EXPECT_EQ(KernelLog::open(fake_.folder()).error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(KernelLog::open(path_).error().code, base::Code::kNotFound);
}

TEST_F(PlainKernelLog, TakesNoMoreLinesThanTheLimitWhateverTheyAre) {
  fake_.write("/log", "garbage\ngarbage\ngarbage\n4,1,1,-;one\n");
  auto log = KernelLog::open(path_);
  ASSERT_TRUE(log.has_value());
  std::vector<KernelRecord> records;
  EXPECT_EQ(log->read(3, records), KernelLog::More::kMaybe);
  EXPECT_TRUE(records.empty());
  EXPECT_EQ(log->malformed(), 3u);
  EXPECT_EQ(log->read(3, records), KernelLog::More::kNone);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].text, "one");
}

TEST(DeviceKernelLog, ThatHasNeitherRecordsNorAnEndIsLeftAfterTheLimit) {
  auto log = KernelLog::open("/dev/zero");
  ASSERT_TRUE(log.has_value());
  std::vector<KernelRecord> records;
  EXPECT_EQ(log->read(10, records), KernelLog::More::kMaybe);
  EXPECT_TRUE(records.empty());
  EXPECT_EQ(log->malformed(), 10u);
}

TEST(DeviceKernelLog, ThatHasAnEndIsNotWaitedFor) {
  auto log = KernelLog::open("/dev/null");
  ASSERT_TRUE(log.has_value());
  std::vector<KernelRecord> records;
  log->read(10, records);
  EXPECT_TRUE(records.empty());
  EXPECT_EQ(log->poll_fd(), -1);
}

}  // namespace
}  // namespace everywatt::host
