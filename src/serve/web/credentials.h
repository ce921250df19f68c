// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace everywatt::web {

// What an Authorization field holds.
struct Credentials {
  enum class Kind : std::uint8_t { kPassword, kToken, kUnreadable };
  Kind kind = Kind::kUnreadable;
  std::string user = {};
  std::string secret = {};  // the password or the token
};

// "Basic BASE64" and "Bearer TOKEN".
Credentials parse_authorization(std::string_view field);

}  // namespace everywatt::web
