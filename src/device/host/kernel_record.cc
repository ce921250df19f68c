// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "device/host/kernel_log.h"
#include "device/host/lines.h"

namespace everywatt::host {
namespace {

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

// The kernel writes what is not printable as \xNN, and a backslash as \x5c.
std::string unescape(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
      const auto high = hex_digit(text[i + 2]);
      const auto low = hex_digit(text[i + 3]);
      if (high && low) {
        plain += static_cast<char>(*high * 16 + *low);
        i += 3;
        continue;
      }
    }
    plain += text[i];
  }
  return plain;
}

}  // namespace

std::optional<KernelRecord> parse_kernel_record(std::string_view record) {
  constexpr std::uint64_t kMostMicroseconds = 1ull << 53;  // 285 years
  const auto semicolon = record.find(';');
  if (semicolon == std::string_view::npos) return std::nullopt;
  std::string_view prefix = record.substr(0, semicolon);
  std::string_view rest = record.substr(semicolon + 1);
  const auto level = base::parse_u64(take_until(prefix, ','));
  const auto sequence = base::parse_u64(take_until(prefix, ','));
  const auto microseconds = base::parse_u64(take_until(prefix, ','));
  if (!level || !sequence || !microseconds || *microseconds > kMostMicroseconds) {
    return std::nullopt;
  }
  const std::string_view text = take_until(rest, '\n');
  return KernelRecord{
      .priority = static_cast<unsigned>(*level & 7),
      .sequence = *sequence,
      .time_ns = static_cast<std::int64_t>(*microseconds) * 1000,
      .text = base::clean_text(unescape(text.substr(0, kKernelTextBytes)), kKernelTextBytes)};
}

}  // namespace everywatt::host
