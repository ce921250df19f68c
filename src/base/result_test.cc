// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/unique_fd.h"

#include <fcntl.h>

namespace everywatt::base {
namespace {

TEST(ResultTest, AFailedSystemCallSaysWhatAndWhere) {
  const Status failed = fail_errno("open", "/x/y", ENOENT);
  EXPECT_EQ(failed.error().code, Code::kNotFound);
  EXPECT_EQ(failed.error().message, "cannot open /x/y: No such file or directory");
  EXPECT_EQ(failed.error().hint, "");
}

TEST(ResultTest, ErrorNumbersBecomeWhatACallerCanActOn) {
  const auto code_of = [](int number) { return fail_errno("open", "x", number).error().code; };
  EXPECT_EQ(code_of(EACCES), Code::kNoPermission);
  EXPECT_EQ(code_of(EPERM), Code::kNoPermission);
  EXPECT_EQ(code_of(ENOENT), Code::kNotFound);
  EXPECT_EQ(code_of(ENOTDIR), Code::kNotFound);
  EXPECT_EQ(code_of(ENOSPC), Code::kIo);
}

TEST(ResultTest, EveryCodeHasAName) {
  EXPECT_EQ(code_name(Code::kNotFound), "not_found");
  EXPECT_EQ(code_name(Code::kNotSupported), "not_supported");
  EXPECT_EQ(code_name(Code::kNoPermission), "no_permission");
  EXPECT_EQ(code_name(Code::kUnavailable), "unavailable");
  EXPECT_EQ(code_name(Code::kCorrupt), "corrupt");
  EXPECT_EQ(code_name(Code::kInvalidArgument), "invalid_argument");
  EXPECT_EQ(code_name(Code::kIo), "io");
}

TEST(ResultTest, AFailureCarriesItsHint) {
  const Result<int> failed = fail(Code::kUnavailable, "no daemon", "start everywatt serve");
  EXPECT_EQ(failed.error().hint, "start everywatt serve");
}

TEST(CheckDeathTest, AViolatedCheckNamesItsPlaceAndStops) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "result_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3");
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(UniqueFdTest, ClosesItsDescriptorOnce) {
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    UniqueFd first(number);
    UniqueFd second(std::move(first));
    EXPECT_FALSE(first.is_open());
    EXPECT_EQ(second.get(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFdTest, ReleasedDescriptorsStayOpen) {
  UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = fd.release();
  fd.reset();
  EXPECT_TRUE(is_open(number));
  const UniqueFd owner(number);
}

TEST(UniqueFdTest, AssigningClosesWhatWasHeld) {
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  UniqueFd fd(number);
  fd = UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(fd.is_open());
  EXPECT_FALSE(is_open(number));
}

}  // namespace
}  // namespace everywatt::base
