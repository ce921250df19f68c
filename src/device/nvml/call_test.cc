// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/call.h"

#include <gtest/gtest.h>

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::State;

TEST(StateOf, CodesBecomeReasons) {
  EXPECT_EQ(state_of(Return::kSuccess), State::kOk);
  EXPECT_EQ(state_of(Return::kNotSupported), State::kNotSupported);
  EXPECT_EQ(state_of(Return::kFunctionNotFound), State::kNotSupported);
  EXPECT_EQ(state_of(Return::kArgumentVersionMismatch), State::kNotSupported);
  EXPECT_EQ(state_of(Return::kInvalidArgument), State::kNotSupported);
  EXPECT_EQ(state_of(Return::kNoPermission), State::kNoPermission);
  EXPECT_EQ(state_of(Return::kGpuIsLost), State::kLost);
  EXPECT_EQ(state_of(Return::kTimeout), State::kTimedOut);
  EXPECT_EQ(state_of(Return::kNotFound), State::kNoNewValue);
  EXPECT_EQ(state_of(Return::kNoData), State::kNoNewValue);
  EXPECT_EQ(state_of(Return::kUnknown), State::kFailed);
  EXPECT_EQ(state_of(Return::kResetRequired), State::kFailed);
}

TEST(StateOf, CodeThatWeDoNotKnowIsAFailure) {
  EXPECT_EQ(state_of(static_cast<Return>(4711)), State::kFailed);
}

TEST(CallName, IsTheDriversNewestName) {
  EXPECT_EQ(call_name(Call::kInit), "nvmlInit_v2");
  EXPECT_EQ(call_name(Call::kDeviceGetCurrentClocksEventReasons),
            "nvmlDeviceGetCurrentClocksEventReasons");
}

TEST(BreadcrumbName, CountsFromOne) {
  EXPECT_EQ(breadcrumb_name(0), "no call");
  EXPECT_EQ(breadcrumb_name(1), "nvmlInit_v2");
  EXPECT_EQ(breadcrumb_name(kCallCount), "nvmlDeviceGetSupportedEventTypes");
  EXPECT_EQ(breadcrumb_name(kCallCount + 1), "unknown call");
}

}  // namespace
}  // namespace everywatt::nvml
