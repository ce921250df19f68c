// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace everywatt::app {

// Writes one JSON text, member by member, in the order of the calls. Numbers are exact: integers in
// full, doubles as the shortest text that reads back the same; what is not finite becomes null.
// Indents nothing: one object is one line, and so a JSON line.
class JsonText {
 public:
  JsonText& begin_object() { return open('{'); }
  JsonText& end_object() { return close('}'); }
  JsonText& begin_array() { return open('['); }
  JsonText& end_array() { return close(']'); }
  JsonText& key(std::string_view name);

  JsonText& string(std::string_view text);
  JsonText& number(double value);
  template <std::integral T>
  JsonText& number(T value) {
    return raw(std::to_string(value));
  }
  JsonText& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonText& null() { return raw("null"); }

  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  JsonText& open(char bracket);
  JsonText& close(char bracket);
  JsonText& raw(std::string_view value);
  void separate();

  std::string text_;
  bool is_first_ = true;
};

}  // namespace everywatt::app
