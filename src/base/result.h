// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace everywatt::base {

// Why an operation failed, as few kinds as a caller can act on.
enum class Code {
  kNotFound,         // the thing named does not exist
  kNotSupported,     // it exists but cannot do this here
  kNoPermission,     // rights are missing
  kUnavailable,      // try again later: nothing there yet, busy, stopped
  kCorrupt,          // the bytes do not say what their format promises
  kInvalidArgument,  // the caller's input is wrong
  kIo,               // the operating system failed
};

std::string_view code_name(Code code);

// A failure for people: one line `message` (what, where), and an optional `hint` (what to do).
struct [[nodiscard]] Error {
  Code code = Code::kIo;
  std::string message;
  std::string hint;
};

// Every fallible function returns one of these; exceptions do not cross a room's border.
template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> fail(Code code, std::string message, std::string hint = {}) {
  return std::unexpected<Error>(Error{code, std::move(message), std::move(hint)});
}

// The Error for `errno` after a failed system call on `what` (a path or a short description).
// EACCES and EPERM become kNoPermission, ENOENT and ENOTDIR kNotFound, the rest kIo.
std::unexpected<Error> fail_errno(std::string_view action, std::string_view what,
                                  int error_number = errno);

}  // namespace everywatt::base
