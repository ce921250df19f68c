// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

// Of the base units that our names end in.
constexpr std::array<std::string_view, 7> kUnits{"seconds", "bytes", "joules", "watts",
                                                 "celsius", "hertz", "ratio"};

enum class Quotes { kPlain, kEscaped };

void append_help(std::string& text, std::string_view help, Quotes quotes) {
  for (const char c : help) {
    if (c == '\\' || (c == '"' && quotes == Quotes::kEscaped)) text += '\\';
    text += c == '\n' ? ' ' : c;
  }
}

bool matches(std::string_view wanted, std::string_view name) {
  if (!wanted.ends_with('*')) return wanted == name;
  wanted.remove_suffix(1);
  return name.starts_with(wanted);
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
  drop_unwanted();
  family_begin_ = text_.size();
  is_unwanted_ = !filter_.empty() && std::ranges::none_of(filter_, [name](const auto& wanted) {
    return matches(wanted, name);
  });
  name_ = name;
  type_ = type;
  help_ = help;
  is_announced_ = false;
}

// What nobody asked for is written like all else, which is rare, and cut off again.
void Exposition::drop_unwanted() {
  if (is_unwanted_ && sink_ == nullptr) text_.resize(family_begin_);
  is_unwanted_ = false;
}

void Exposition::announce() {
  if (sink_ != nullptr) return;
  if (format_ == Format::kOpenMetrics) return announce_openmetrics();
  text_.append("# HELP ").append(name_).append(" ");
  append_help(text_, help_, Quotes::kPlain);
  text_.append("\n# TYPE ").append(name_).append(" ");
  text_.append(type_ == "info" ? "gauge" : type_).append("\n");
}

// A counter's or an info's family has its samples' name without the suffix. A counter that has none
// (DCGM's) keeps its name, and is of no type that the format knows.
void Exposition::announce_openmetrics() {
  std::string_view family = name_;
  std::string_view type = type_;
  if (type_ == "info" && name_.ends_with("_info")) family.remove_suffix(5);
  if (type_ == "counter") {
    if (name_.ends_with("_total")) {
      family.remove_suffix(6);
    } else {
      type = "unknown";
    }
  }
  text_.append("# TYPE ").append(family).append(" ").append(type).append("\n");
  const std::string_view unit = family.substr(family.rfind('_') + 1);
  if (type_ != "info" && std::ranges::find(kUnits, unit) != kUnits.end()) {
    text_.append("# UNIT ").append(family).append(" ").append(unit).append("\n");
  }
  text_.append("# HELP ").append(family).append(" ");
  append_help(text_, help_, Quotes::kEscaped);
  text_ += '\n';
}

void Exposition::remark(std::string_view text) {
  if (sink_ != nullptr) return;
  if (format_ == Format::kText) text_.append("# ").append(text).append("\n");
}

void Exposition::end() {
  drop_unwanted();
  if (format_ == Format::kOpenMetrics) text_ += "# EOF\n";
}

Exposition& Exposition::sample(std::string_view suffix) {
  if (!is_announced_) {
    announce();
    is_announced_ = true;
  }
  if (sink_ != nullptr) series_.clear();
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

void Exposition::give(double value) {
  if (has_labels_) series_ += '}';
  if (!is_unwanted_) sink_->take(series_, value);
}

void Exposition::value(double value) {
  CHECK(std::isfinite(value));
  if (sink_ != nullptr) return give(value);
  end_labels();
  // The shortest text that reads back as the same number.
  fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

void Exposition::value(std::uint64_t value) {
  if (sink_ != nullptr) return give(static_cast<double>(value));
  end_labels();
  fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

void Exposition::number(std::string_view text) {
  if (sink_ != nullptr) {
    if (const auto value = base::parse_f64(text)) give(*value);
    return;
  }
  end_labels();
  text_.append(text).append("\n");
}

}  // namespace everywatt::exporter
