// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace everywatt::web {

struct YamlEntry;

// One value of a YAML document.
struct YamlNode {
  enum class Kind : std::uint8_t { kNothing, kText, kList, kMap };
  Kind kind = Kind::kNothing;
  std::size_t line = 1;
  std::string text = {};             // kText: a scalar, whatever its type
  std::vector<YamlNode> items = {};  // kList
  std::vector<YamlEntry> entries;    // kMap, in the order of the file; no key comes twice

  const YamlEntry* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  std::size_t line = 1;  // of the key
  YamlNode value;
};

// The first document of a small text. `name` is its file's. kInvalidArgument: no YAML, a key that
// is no text or comes twice in a map; more than some thousand values, which a small text can stand
// for where parts of it repeat others.
base::Result<YamlNode> parse_yaml(std::string_view text, const std::string& name);

}  // namespace everywatt::web
