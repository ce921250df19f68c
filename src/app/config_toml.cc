// SPDX-License-Identifier: Apache-2.0
// The only file that knows toml++.
#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/config.h"
#include "app/config_key.h"
#include "app/messages.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

std::optional<std::vector<std::string>> texts_of(const toml::array& array) {
  std::vector<std::string> texts;
  for (const toml::node& node : array) {
    const auto text = node.value_exact<std::string>();
    if (!text) return std::nullopt;
    texts.push_back(*text);
  }
  return texts;
}

// Booleans, dates and mixed arrays are no type of ours: a value that has no key's type.
std::optional<ConfigValue> value_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return ConfigValue(*text);
  if (const auto whole = node.value_exact<std::int64_t>()) {
    return ConfigValue(static_cast<double>(*whole));
  }
  if (const auto number = node.value_exact<double>()) return ConfigValue(*number);
  if (const toml::array* array = node.as_array()) {
    if (auto texts = texts_of(*array)) return ConfigValue(*std::move(texts));
  }
  return std::nullopt;
}

class Walk {
 public:
  Walk(std::string name, Language language, ConfigReading& reading)
      : name_(std::move(name)), language_(language), reading_(reading) {}

  void take(const toml::table& table, const std::string& prefix) {
    // A table is sorted by name; people read a file from its top.
    std::vector<std::pair<toml::key, const toml::node*>> entries;
    for (const auto& [key, node] : table) {
      entries.emplace_back(key, &node);
    }
    std::ranges::stable_sort(entries, {},
                             [](const auto& entry) { return entry.first.source().begin.line; });
    for (const auto& [key, entry] : entries) {
      const toml::node& node = *entry;
      const std::string name = prefix + std::string(key.str());
      const std::string where = fmt::format("{}:{}: ", name_, key.source().begin.line);
      if (prefix == "groups.") {
        take_group(std::string(key.str()), node, where);
      } else if (const ConfigKey* known = find_config_key(name)) {
        take_value(*known, node, where);
      } else if (node.is_table() && is_section(name)) {
        take(*node.as_table(), name + ".");
      } else {
        complain_unknown(name, where);
      }
    }
  }

 private:
  static bool is_section(const std::string& name) {
    if (name == "groups") return true;
    for (const ConfigKey& key : config_keys()) {
      if (key.name.starts_with(name + ".")) return true;
    }
    return false;
  }

  void take_value(const ConfigKey& key, const toml::node& node, const std::string& where) {
    if (auto value = value_of(node)) {
      apply_value(key, *std::move(value), where, language_, reading_);
    } else {
      complain_type(key, where, language_, reading_);
    }
  }

  void take_group(const std::string& group, const toml::node& node, const std::string& where) {
    const auto value = value_of(node);
    if (!value || !std::holds_alternative<std::vector<std::string>>(*value)) {
      reading_.faults.push_back(where +
                                say(language_, Message::config_wants_texts, "groups." + group));
      return;
    }
    reading_.config.groups[group] = std::get<std::vector<std::string>>(*value);
  }

  void complain_unknown(const std::string& name, const std::string& where) {
    std::vector<std::string_view> known;
    for (const ConfigKey& key : config_keys()) {
      known.push_back(key.name);
    }
    std::string line = say(language_, Message::config_unknown_key, name);
    if (const auto near = base::nearest(name, known)) {
      line += say(language_, Message::did_you_mean, *near);
    }
    reading_.faults.push_back(where + line);
  }

  std::string name_;
  Language language_;
  ConfigReading& reading_;
};

}  // namespace

void read_config_text(std::string_view text, const std::string& name, Language language,
                      ConfigReading& reading) {
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    reading.faults.push_back(fmt::format("{}:{}: {}", name, error.source().begin.line,
                                         std::string_view(error.description())));
    return;
  }
  Walk(name, language, reading).take(parsed.table(), "");
}

void read_setting(std::string_view setting, Language language, ConfigReading& reading) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos) {
    reading.faults.push_back(say(language, Message::config_not_a_setting, setting));
    return;
  }
  const std::string key(base::trim(setting.substr(0, equals)));
  const std::string value(base::trim(setting.substr(equals + 1)));
  // A word without quotes is a text: shells eat quotes.
  std::string line = key + " = " + value;
  if (!toml::parse(line)) line = key + " = " + format_value(ConfigValue(value));
  if (const toml::parse_result parsed = toml::parse(line); parsed) {
    // There is no file and no line to name.
    const std::size_t before = reading.faults.size();
    const std::size_t notes_before = reading.notes.size();
    Walk("--set", language, reading).take(parsed.table(), "");
    const auto cut = [](std::string& text) {
      text.replace(0, std::string_view("--set:1").size(), "--set");
    };
    for (std::size_t i = before; i < reading.faults.size(); ++i)
      cut(reading.faults[i]);
    for (std::size_t i = notes_before; i < reading.notes.size(); ++i)
      cut(reading.notes[i]);
  } else {
    reading.faults.push_back(say(language, Message::config_not_a_setting, setting));
  }
}

}  // namespace everywatt::app
