// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/exposition.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/check.h"
#include "base/text.h"

namespace everywatt::exporter {
namespace {

// Enough for a UUID, a path, a name; far less than what could weigh on a server that stores it.
constexpr std::size_t kLongestValue = 256;

void append_escaped(std::string& text, std::string_view value) {
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
}

}  // namespace

std::string format_label(std::string_view name, std::string_view value) {
  std::string text(name);
  text += "=\"";
  append_escaped(text, base::clean_text(value, kLongestValue));
  text += '"';
  return text;
}

std::string join_labels(std::string_view left, std::string_view right) {
  std::string text(left);
  if (!left.empty() && !right.empty()) text += ',';
  text += right;
  return text;
}

void Exposition::begin_family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  type_ = type;
  help_ = help;
  is_announced_ = false;
}

Exposition& Exposition::sample(std::string_view suffix) {
  if (!is_announced_) {
    text_.append("# HELP ").append(name_).append(" ");
    for (const char c : help_) {
      if (c == '\\') text_ += '\\';
      text_ += c == '\n' ? ' ' : c;
    }
    text_.append("\n# TYPE ").append(name_).append(" ").append(type_).append("\n");
    is_announced_ = true;
  }
  text_.append(name_).append(suffix);
  has_labels_ = false;
  return *this;
}

Exposition& Exposition::labels(std::string_view ready) {
  if (ready.empty()) return *this;
  text_ += has_labels_ ? ',' : '{';
  text_ += ready;
  has_labels_ = true;
  return *this;
}

Exposition& Exposition::label(std::string_view name, std::string_view value) {
  return labels(format_label(name, value));
}

void Exposition::end_labels() {
  text_ += has_labels_ ? "} " : " ";
}

void Exposition::value(double value) {
  CHECK(std::isfinite(value));
  end_labels();
  // The shortest text that reads back as the same number.
  fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

void Exposition::value(std::uint64_t value) {
  end_labels();
  fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

void Exposition::number(std::string_view text) {
  end_labels();
  text_.append(text).append("\n");
}

}  // namespace everywatt::exporter
