// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/fuzz_target.h"
#include "base/text.h"

// For fuzzers: whether a text is what Prometheus takes, by the letter of its format 0.0.4.
namespace everywatt::exporter {

JUDGE inline bool is_name(std::string_view text) {
  if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return false;
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_letter && !(c >= '0' && c <= '9') && c != '_' && c != ':') return false;
  }
  return true;
}

// Cuts {name="value",...} off the text; false when it is none.
JUDGE inline bool take_labels(std::string_view& text) {
  if (!text.starts_with('{')) return true;
  std::unordered_set<std::string_view> names;
  do {
    text.remove_prefix(1);
    const std::size_t equals = text.find("=\"");
    if (equals == std::string_view::npos || !is_name(text.substr(0, equals))) return false;
    if (!names.insert(text.substr(0, equals)).second) return false;
    text.remove_prefix(equals + 2);
    while (!text.empty() && text.front() != '"') {
      if (text.front() == '\\') {
        text.remove_prefix(1);
        if (text.empty() || std::string_view("\\\"n").find(text.front()) == text.npos) return false;
      }
      text.remove_prefix(1);
    }
    if (text.empty()) return false;
    text.remove_prefix(1);
  } while (text.starts_with(','));
  if (!text.starts_with('}')) return false;
  text.remove_prefix(1);
  return true;
}

JUDGE inline bool is_number(std::string_view text) {
  const auto number = base::parse_f64(text);
  return number.has_value() && std::isfinite(*number);
}

// Dies of a line that is no comment and no sample of a number, of a family that begins twice, and
// of two samples with the same name and labels.
JUDGE inline void check_exposition(std::string_view text) {
  CHECK(text.empty() || text.ends_with('\n'));
  std::unordered_set<std::string_view> families;
  std::unordered_set<std::string_view> samples;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    CHECK(base::is_clean(line));
    if (line.starts_with("# TYPE ")) CHECK(families.insert(line).second);
    if (line.starts_with("# ")) continue;
    const std::string_view whole = line;
    const std::size_t name_end = line.find_first_of("{ ");
    CHECK(name_end != std::string_view::npos && is_name(line.substr(0, name_end)));
    line.remove_prefix(name_end);
    CHECK(take_labels(line));
    CHECK(samples.insert(whole.substr(0, whole.size() - line.size())).second);
    CHECK(line.starts_with(' ') && is_number(line.substr(1)));
  }
}

}  // namespace everywatt::exporter
