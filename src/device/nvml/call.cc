// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/call.h"

#include <array>

namespace everywatt::nvml {
namespace {

constexpr std::array<std::string_view, kCallCount> kNames = {
#define CALL(name) abi::name.names[0],
#include "device/nvml/calls.inc"
#undef CALL
};

}  // namespace

std::string_view call_name(Call call) {
  return kNames[static_cast<unsigned>(call)];
}

std::string_view breadcrumb_name(std::uint64_t breadcrumb) {
  breadcrumb &= kCallMask;
  if (breadcrumb == 0) return "no call";
  if (breadcrumb > kCallCount) return "unknown call";
  return kNames[breadcrumb - 1];
}

catalog::State state_of(abi::Return code) {
  using abi::Return;
  using catalog::State;
  switch (code) {
    case Return::kSuccess:
      return State::kOk;
    // An argument that a driver does not know names something that this GPU does not have: a link,
    // a buffer, a newer field. A wrong argument of ours shows in the tests instead.
    case Return::kInvalidArgument:
    case Return::kNotSupported:
    case Return::kFunctionNotFound:
    case Return::kArgumentVersionMismatch:
    case Return::kDeprecated:
    case Return::kVgpuEccNotSupported:
      return State::kNotSupported;
    case Return::kNoPermission:
      return State::kNoPermission;
    case Return::kGpuIsLost:
    case Return::kGpuNotFound:
      return State::kLost;
    case Return::kTimeout:
      return State::kTimedOut;
    // Nothing was sampled since the last question.
    case Return::kNotFound:
    case Return::kNoData:
    case Return::kNotReady:
      return State::kNoNewValue;
    case Return::kUninitialized:
    case Return::kAlreadyInitialized:
    case Return::kInsufficientSize:
    case Return::kInsufficientPower:
    case Return::kDriverNotLoaded:
    case Return::kIrqIssue:
    case Return::kLibraryNotFound:
    case Return::kCorruptedInforom:
    case Return::kResetRequired:
    case Return::kOperatingSystem:
    case Return::kLibRmVersionMismatch:
    case Return::kInUse:
    case Return::kMemory:
    case Return::kInsufficientResources:
    case Return::kFreqNotSupported:
    case Return::kInvalidState:
    case Return::kResetTypeNotSupported:
    case Return::kUnknown:
      return State::kFailed;
  }
  return State::kFailed;  // a number that newer drivers may return
}

}  // namespace everywatt::nvml
