// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/complaints.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace everywatt::hostwatch {
namespace {

class ComplaintsTest : public testing::Test {
 protected:
  // How many lines of log a call makes.
  template <typename Call>
  static std::ptrdiff_t lines_of(Call call) {
    testing::internal::CaptureStderr();
    call();
    const std::string text = testing::internal::GetCapturedStderr();
    return std::ranges::count(text, '\n');
  }
  static base::Error error(base::Code code) {
    return {.code = code, .message = "cannot read it", .hint = {}};
  }

  Complaints complaints_;
};

TEST_F(ComplaintsTest, AreMadeOnceAReasonAndOnceAtItsEnd) {
  const auto refused = [&] { complaints_.failed("/proc/stat", error(base::Code::kNoPermission)); };
  const auto broken = [&] { complaints_.failed("/proc/stat", error(base::Code::kIo)); };
  const auto fine = [&] { complaints_.worked("/proc/stat"); };
  EXPECT_EQ(lines_of(fine), 0);
  EXPECT_EQ(lines_of(refused), 1);
  EXPECT_EQ(lines_of(refused), 0);
  EXPECT_EQ(lines_of(broken), 1);
  EXPECT_EQ(lines_of(broken), 0);
  EXPECT_EQ(lines_of(fine), 1);
  EXPECT_EQ(lines_of(fine), 0);
  EXPECT_EQ(lines_of(refused), 1);
}

TEST_F(ComplaintsTest, AreNotMadeOfWhatIsSimplyNotThere) {
  EXPECT_EQ(lines_of([&] { complaints_.failed("/x", error(base::Code::kNotFound)); }), 0);
  EXPECT_EQ(lines_of([&] { complaints_.worked("/x"); }), 0);
}

TEST_F(ComplaintsTest, EndWithTheSubjectsThatAreRemembered) {
  const auto fail_all = [&] {
    for (int i = 0; i < 1000; ++i)
      complaints_.failed("process " + std::to_string(i), error(base::Code::kIo));
  };
  EXPECT_EQ(lines_of(fail_all), 256);
  EXPECT_EQ(lines_of(fail_all), 0);
}

}  // namespace
}  // namespace everywatt::hostwatch
