// SPDX-License-Identifier: Apache-2.0
#include "app/json_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace everywatt::app {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  // Text from a workload is cleaned before it is recorded; this holds for any other, too.
  for (const char c : base::clean_text(text, text.size() * 3)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

}  // namespace

void JsonText::separate() {
  if (!is_first_) text_ += ',';
  is_first_ = false;
}

JsonText& JsonText::open(char bracket) {
  separate();
  text_ += bracket;
  is_first_ = true;
  return *this;
}

JsonText& JsonText::close(char bracket) {
  text_ += bracket;
  is_first_ = false;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  separate();
  append_quoted(text_, name);
  text_ += ':';
  is_first_ = true;
  return *this;
}

JsonText& JsonText::raw(std::string_view value) {
  separate();
  text_ += value;
  return *this;
}

JsonText& JsonText::string(std::string_view text) {
  separate();
  append_quoted(text_, text);
  return *this;
}

JsonText& JsonText::number(double value) {
  return std::isfinite(value) ? raw(fmt::format("{}", value)) : null();
}

}  // namespace everywatt::app
