// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace everywatt::base {
namespace {

class LogTest : public testing::Test {
 protected:
  ~LogTest() override {
    set_log_role("");
    set_log_level(LogLevel::kNotice);
  }

  static std::string line_of(LogLevel level, std::string_view text) {
    testing::internal::CaptureStderr();
    log(level, text);
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogTest, ALineNamesTheProgramTheRoleAndTheLevel) {
  EXPECT_EQ(line_of(LogLevel::kNotice, "ready"), "everywatt: ready\n");
  set_log_role("sampler");
  EXPECT_EQ(line_of(LogLevel::kWarning, "GPU 3 is gone"),
            "everywatt[sampler]: warning: GPU 3 is gone\n");
  EXPECT_EQ(line_of(LogLevel::kError, "no driver"), "everywatt[sampler]: error: no driver\n");
}

TEST_F(LogTest, TextFromOutsideCannotForgeALine) {
  EXPECT_EQ(line_of(LogLevel::kNotice, "name: x\neverywatt: error: all is lost\x1b[2J"),
            "everywatt: name: x everywatt: error: all is lost [2J\n");
}

TEST_F(LogTest, DetailsAreLeftOutUnlessAskedFor) {
  EXPECT_EQ(line_of(LogLevel::kDebug, "detail"), "");
  set_log_level(LogLevel::kDebug);
  EXPECT_EQ(line_of(LogLevel::kDebug, "detail"), "everywatt: detail\n");
  set_log_level(LogLevel::kError);
  EXPECT_EQ(line_of(LogLevel::kWarning, "hm"), "");
}

TEST_F(LogTest, LongTextsAreCut) {
  EXPECT_EQ(line_of(LogLevel::kNotice, std::string(5000, 'x')),
            "everywatt: " + std::string(2000, 'x') + "\n");
}

TEST_F(LogTest, ALongRoleIsCutAndAShorterOneReplacesItWholly) {
  set_log_role(std::string(100, 'r'));
  set_log_role("host");
  EXPECT_EQ(line_of(LogLevel::kNotice, "x"), "everywatt[host]: x\n");
}

TEST_F(LogTest, ALineForWhichAPipeHasNoRoomIsLostAndHoldsUpNobody) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  while (::write(ends[1], "x", 1) == 1) {
  }
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, 0), 0);
  const int own = ::dup(STDERR_FILENO);
  ASSERT_EQ(::dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
  ::alarm(10);  // one that waits ends the test
  log(LogLevel::kError, "to nobody");
  ::alarm(0);
  ::dup2(own, STDERR_FILENO);
  for (const int each : {ends[0], ends[1], own})
    ::close(each);
}

}  // namespace
}  // namespace everywatt::base
