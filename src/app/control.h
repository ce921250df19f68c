// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// How a command tells the running daemon what to do: one fixed-size packet either way over a
// sequenced-packet socket in a folder that its owner alone may enter.
namespace everywatt::app {

enum class ControlVerb : std::uint32_t { kDrain = 1, kResume = 2 };

enum class ControlStatus : std::uint32_t {
  kDone = 0,
  kAlready = 1,  // it was so before
  kFailed = 2,
  kRefused = 3,  // not from this user, or not understood
};

inline constexpr std::uint64_t kControlMagic = 0x4c52'5443'5457'4545;  // "EEWTCTRL"
inline constexpr std::uint32_t kControlVersion = 1;

struct ControlRequest {
  std::uint64_t magic = kControlMagic;
  std::uint32_t version = kControlVersion;
  std::uint32_t verb = 0;
};
static_assert(sizeof(ControlRequest) == 16);

struct ControlReply {
  std::uint32_t status = 0;
  std::array<char, 256> text{};  // for people, ends with a zero byte; why, unless it went well
};
static_assert(sizeof(ControlReply) == 260);

ControlReply make_reply(ControlStatus status, std::string_view text);

inline constexpr std::string_view kControlName = "control";

// Beside the run folder, for nothing in that one may be dangerous to who has it mounted:
// /run/everywatt -> /run/everywatt-control.
std::string control_folder(const std::string& run_folder);

struct ControlAnswer {
  ControlStatus status{};
  std::string text;
};
// Asks the daemon of that run folder and waits for its answer. kNoPermission: it is another user's.
// kUnavailable: none is there, or it says nothing for a minute.
base::Result<ControlAnswer> ask_daemon(const std::string& run_folder, ControlVerb verb);

}  // namespace everywatt::app
