// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/web/yaml_tree.h"

namespace everywatt::web {

struct YamlText {
  std::string value;
  std::size_t line = 1;
};

// Part of a file, fit to be shown.
std::string shown(std::string_view text);

// A YAML file that is read key by key against what it should be. What is wrong is kept, and reading
// goes on: of all faults the one that stands first in the file is told.
class YamlReading {
 public:
  explicit YamlReading(std::string name) : name_(std::move(name)) {}

  // Each is nothing where the key is missing or empty, and where it is of another type, which is a
  // fault.
  std::optional<YamlText> text(const YamlNode& map, std::string_view key);
  std::optional<std::vector<YamlText>> texts(const YamlNode& map, std::string_view key);
  std::optional<bool> boolean(const YamlNode& map, std::string_view key);
  const YamlNode* map(const YamlNode& map, std::string_view key);

  // A fault where the map has another key. `where`: what the map is called; "": the file itself.
  void judge_keys(const YamlNode& map, std::string_view where,
                  std::initializer_list<std::string_view> known);
  void complain(std::size_t line, std::string_view what, std::string hint = {});

  const std::string& name() const { return name_; }
  const std::optional<base::Error>& fault() const { return fault_; }

 private:
  std::optional<YamlText> take_text(const YamlNode& node, std::string_view key);

  std::string name_;
  std::size_t fault_line_ = 0;
  std::optional<base::Error> fault_;
};

// "one of A, B, C". Empty names are left out.
template <typename Names, typename NameOf = std::identity>
std::string list_names(const Names& names, NameOf name_of = {}) {
  std::string list = "one of ";
  std::string_view separator;
  for (const auto& entry : names) {
    const std::string_view name = name_of(entry);
    if (name.empty()) continue;
    list.append(separator).append(name);
    separator = ", ";
  }
  return list;
}

// The line of the first of these keys that the map has; else the map's own.
std::size_t line_of(const YamlNode& map, std::initializer_list<std::string_view> keys);

}  // namespace everywatt::web
