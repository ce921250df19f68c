// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <fmt/format.h>

#include <system_error>

namespace everywatt::base {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kNotFound:
      return "not_found";
    case Code::kNotSupported:
      return "not_supported";
    case Code::kNoPermission:
      return "no_permission";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kInvalidArgument:
      return "invalid_argument";
    case Code::kIo:
      return "io";
  }
  return "unknown";
}

std::unexpected<Error> fail_errno(std::string_view action, std::string_view what,
                                  int error_number) {
  Code code = Code::kIo;
  if (error_number == EACCES || error_number == EPERM) code = Code::kNoPermission;
  if (error_number == ENOENT || error_number == ENOTDIR) code = Code::kNotFound;
  return fail(code, fmt::format("cannot {} {}: {}", action, what,
                                std::generic_category().message(error_number)));
}

}  // namespace everywatt::base
