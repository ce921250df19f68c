// SPDX-License-Identifier: Apache-2.0
#include "serve/web/credentials.h"

#include <optional>
#include <utility>

#include "base/text.h"

namespace everywatt::web {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding)
    text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> count) & 0xff);
  }
  return bytes;
}

}  // namespace

Credentials parse_authorization(std::string_view field) {
  const std::size_t blank = field.find(' ');
  if (blank == std::string_view::npos) return {};
  const std::string scheme = base::to_lower(field.substr(0, blank));
  const std::string_view rest = base::trim(field.substr(blank));
  if (scheme == "bearer" && !rest.empty()) {
    return {.kind = Credentials::Kind::kToken, .user = {}, .secret = std::string(rest)};
  }
  if (scheme != "basic") return {};
  const auto pair = decode_base64(rest);
  if (!pair) return {};
  const std::size_t colon = pair->find(':');
  if (colon == std::string::npos) return {};
  return {.kind = Credentials::Kind::kPassword,
          .user = pair->substr(0, colon),
          .secret = pair->substr(colon + 1)};
}

}  // namespace everywatt::web
