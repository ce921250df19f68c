// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace everywatt::base {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Number and unit of "1.5 h"; the unit may be empty.
struct Quantity {
  double number = 0;
  std::string_view unit;
};

std::optional<Quantity> parse_quantity(std::string_view text) {
  text = trim(text);
  const std::size_t digits = text.find_first_not_of("0123456789.");
  const auto number = parse_f64(text.substr(0, digits));
  if (!number) return std::nullopt;
  return Quantity{*number, digits == text.npos ? std::string_view{} : trim(text.substr(digits))};
}

struct Utf8Char {
  char32_t code = 0;
  std::size_t length = 0;  // 0: not a valid sequence
};

Utf8Char decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {code, length};
}

bool is_wide(char32_t code) {
  return (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
         (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
         (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
         (code >= 0xffe0 && code <= 0xffe6) || (code >= 0x1f300 && code <= 0x1faff) ||
         (code >= 0x20000 && code <= 0x3fffd);
}

// Combining marks, joiners and variation selectors.
bool is_zero_width(char32_t code) {
  return (code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200d) ||
         (code >= 0xfe00 && code <= 0xfe0f) || code == 0xfeff;
}

// What moves the cursor, ends a line or turns the direction of what follows: the control characters
// of ASCII and Latin-1, the line separators, the marks of bidirectional text.
bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == text.npos) return words;
    text.remove_prefix(first);
    const std::size_t last = std::min(text.find_first_of(kBlanks), text.size());
    words.push_back(text.substr(0, last));
    text.remove_prefix(last);
  }
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::optional<std::uint64_t> parse_u64(std::string_view text) {
  return parse_number<std::uint64_t>(text);
}

std::optional<std::int64_t> parse_i64(std::string_view text) {
  return parse_number<std::int64_t>(text);
}

std::optional<double> parse_f64(std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_duration_ns(std::string_view text) {
  const auto quantity = parse_quantity(text);
  if (!quantity) return std::nullopt;
  double unit_ns = 0;
  const std::string_view unit = quantity->unit;
  if (unit == "ns") unit_ns = 1;
  if (unit == "us") unit_ns = 1e3;
  if (unit == "ms") unit_ns = 1e6;
  if (unit.empty() || unit == "s") unit_ns = 1e9;
  if (unit == "m" || unit == "min") unit_ns = 60e9;
  if (unit == "h") unit_ns = 3600e9;
  if (unit == "d") unit_ns = 86400e9;
  if (unit == "w") unit_ns = 7 * 86400e9;
  const double total_ns = quantity->number * unit_ns;
  if (unit_ns == 0 || total_ns > 9e18) return std::nullopt;
  return std::llround(total_ns);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const auto quantity = parse_quantity(text);
  if (!quantity) return std::nullopt;
  const std::string unit = to_lower(quantity->unit);
  double scale = 0;
  if (unit.empty() || unit == "b") scale = 1;
  constexpr std::string_view kPrefixes = "kmgt";
  for (std::size_t i = 0; i < kPrefixes.size(); ++i) {
    const std::string prefix(1, kPrefixes[i]);
    if (unit == prefix || unit == prefix + "ib") scale = std::pow(1024.0, double(i) + 1);
    if (unit == prefix + "b") scale = std::pow(1000.0, double(i) + 1);
  }
  const double total = quantity->number * scale;
  if (scale == 0 || total > 1.8e19) return std::nullopt;
  return static_cast<std::uint64_t>(total);
}

std::string clean_text(std::string_view text, std::size_t limit_bytes) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char c = decode(text);
    std::string_view piece = text.substr(0, std::max<std::size_t>(c.length, 1));
    text.remove_prefix(piece.size());
    if (c.length == 0) piece = "\xef\xbf\xbd";
    if (c.length != 0 && is_control(c.code)) piece = " ";
    if (out.size() + piece.size() > limit_bytes) break;
    out += piece;
  }
  return out;
}

std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& known) {
  std::optional<std::string_view> best;
  // A third of the word may differ: enough for typing errors, too little for another word.
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 2) + 1;
  for (const std::string_view candidate : known) {
    // Lengths that differ too much decide it at once, also for a word of a megabyte.
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) >= best_distance) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Utf8Char c = decode(text);
    text.remove_prefix(std::max<std::size_t>(c.length, 1));
    if (!is_zero_width(c.code)) width += is_wide(c.code) ? 2 : 1;
  }
  return width;
}

}  // namespace everywatt::base
