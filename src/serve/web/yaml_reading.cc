// SPDX-License-Identifier: Apache-2.0
#include "serve/web/yaml_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace everywatt::web {
namespace {

constexpr std::size_t kShownBytes = 100;

// As YAML 1.1 has them.
constexpr auto kTrue = std::to_array<std::string_view>({"true", "yes", "on", "y"});
constexpr auto kFalse = std::to_array<std::string_view>({"false", "no", "off", "n"});

}  // namespace

std::string shown(std::string_view text) {
  return fmt::format("'{}'", base::clean_text(text, kShownBytes));
}

std::optional<YamlText> YamlReading::take_text(const YamlNode& node, std::string_view key) {
  if (node.kind == YamlNode::Kind::kText) return YamlText{.value = node.text, .line = node.line};
  if (node.kind != YamlNode::Kind::kNothing) {
    complain(node.line, fmt::format("{} must be a text", shown(key)));
  }
  return std::nullopt;
}

std::optional<YamlText> YamlReading::text(const YamlNode& map, std::string_view key) {
  const YamlEntry* entry = map.find(key);
  return entry == nullptr ? std::nullopt : take_text(entry->value, key);
}

std::optional<std::vector<YamlText>> YamlReading::texts(const YamlNode& map, std::string_view key) {
  const YamlEntry* entry = map.find(key);
  if (entry == nullptr || entry->value.kind == YamlNode::Kind::kNothing) return std::nullopt;
  if (entry->value.kind != YamlNode::Kind::kList) {
    complain(entry->line, fmt::format("{} must be a list of texts", shown(key)));
    return std::nullopt;
  }
  std::vector<YamlText> texts;
  for (const YamlNode& item : entry->value.items) {
    if (auto text = take_text(item, key)) texts.push_back(*std::move(text));
  }
  return texts;
}

std::optional<bool> YamlReading::boolean(const YamlNode& map, std::string_view key) {
  const auto word = text(map, key);
  if (!word) return std::nullopt;
  const std::string lower = base::to_lower(word->value);
  if (std::ranges::find(kTrue, lower) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, lower) != kFalse.end()) return false;
  complain(word->line, fmt::format("{} must be true or false", shown(key)));
  return std::nullopt;
}

const YamlNode* YamlReading::map(const YamlNode& map, std::string_view key) {
  const YamlEntry* entry = map.find(key);
  if (entry == nullptr || entry->value.kind == YamlNode::Kind::kNothing) return nullptr;
  if (entry->value.kind == YamlNode::Kind::kMap) return &entry->value;
  complain(entry->line, fmt::format("{} must be a map of keys", shown(key)));
  return nullptr;
}

void YamlReading::judge_keys(const YamlNode& map, std::string_view where,
                             std::initializer_list<std::string_view> known) {
  const std::string in = where.empty() ? std::string() : fmt::format(" in {}", where);
  for (const YamlEntry& entry : map.entries) {
    if (std::ranges::find(known, std::string_view(entry.key)) != known.end()) continue;
    const auto near = base::nearest(entry.key, std::vector<std::string_view>(known));
    complain(entry.line, fmt::format("unknown key {}{}", shown(entry.key), in),
             near ? fmt::format("did you mean '{}'?", *near) : std::string());
  }
}

void YamlReading::complain(std::size_t line, std::string_view what, std::string hint) {
  if (fault_ && fault_line_ <= line) return;
  fault_line_ = line;
  fault_ = base::Error{.code = base::Code::kInvalidArgument,
                       .message = fmt::format("{}:{}: {}", name_, line, what),
                       .hint = std::move(hint)};
}

std::size_t line_of(const YamlNode& map, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const YamlEntry* entry = map.find(key)) return entry->line;
  }
  return map.line;
}

}  // namespace everywatt::web
