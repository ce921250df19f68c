// SPDX-License-Identifier: Apache-2.0
#include "device/host/lines.h"

#include <limits>

#include "base/text.h"

namespace everywatt::host {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

}  // namespace

std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

std::string_view take_word(std::string_view& rest) {
  while (!rest.empty() && is_blank(rest.front()))
    rest.remove_prefix(1);
  std::size_t length = 0;
  while (length < rest.size() && !is_blank(rest[length]))
    ++length;
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

std::optional<std::uint64_t> take_u64(std::string_view& rest) {
  return base::parse_u64(take_word(rest));
}

std::optional<std::string_view> find_line(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (!line.starts_with(key)) continue;
    const std::string_view rest = line.substr(key.size());
    const bool is_whole_key = key.ends_with(':') || rest.empty() || is_blank(rest.front());
    if (is_whole_key) return base::trim(rest);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> find_number(std::string_view text, std::string_view key) {
  auto rest = find_line(text, key);
  if (!rest) return std::nullopt;
  return take_u64(*rest);
}

std::optional<std::uint64_t> scaled(std::optional<std::uint64_t> value, std::uint64_t scale) {
  if (!value || *value > std::numeric_limits<std::uint64_t>::max() / scale) return std::nullopt;
  return *value * scale;
}

}  // namespace everywatt::host
