// SPDX-License-Identifier: Apache-2.0
#include "app/config_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/messages.h"
#include "app/translation.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

constexpr double kNsPerSecond = 1e9;

template <auto kMember>
base::Status set_text(Config& config, const ConfigValue& value) {
  config.*kMember = std::get<std::string>(value);
  return {};
}

template <auto kMember>
base::Status set_texts(Config& config, const ConfigValue& value) {
  config.*kMember = std::get<std::vector<std::string>>(value);
  return {};
}

template <auto kMember>
base::Status set_number(Config& config, const ConfigValue& value) {
  config.*kMember = std::get<double>(value);
  return {};
}

template <auto kMember>
base::Status set_count(Config& config, const ConfigValue& value) {
  auto& target = config.*kMember;
  target = static_cast<std::remove_reference_t<decltype(target)>>(std::get<double>(value));
  return {};
}

template <auto kMember>
base::Status set_seconds(Config& config, const ConfigValue& value) {
  config.*kMember = std::llround(std::get<double>(value) * kNsPerSecond);
  return {};
}

// The same for a member of a member.
template <auto kOuter, auto kInner>
base::Status set_seconds(Config& config, const ConfigValue& value) {
  config.*kOuter.*kInner = std::llround(std::get<double>(value) * kNsPerSecond);
  return {};
}

base::Status set_listen(Config& config, const ConfigValue& value) {
  auto listen = parse_listen(std::get<std::string>(value));
  if (!listen) return std::unexpected(listen.error());
  config.listen_address = listen->address;
  config.listen_port = listen->port;
  return {};
}

base::Status set_names(Config& config, const ConfigValue& value) {
  const auto names = exporter::parse_names(std::get<std::string>(value));
  if (!names) return std::unexpected(names.error());
  config.names = *names;
  return {};
}

// The place of a word in the key's own list is the place in the enum.
template <typename Enum, std::size_t kCount>
Enum enum_of(const ConfigValue& value, const std::array<std::string_view, kCount>& words) {
  const auto found = std::find(words.begin(), words.end(), std::get<std::string>(value));
  return static_cast<Enum>(found - words.begin());
}

base::Status set_gpm_pace(Config& config, const ConfigValue& value) {
  config.gpm_pace = enum_of<sampler::GpmPace>(
      value, std::to_array<std::string_view>({"adaptive", "fast", "slow", "off"}));
  return {};
}

base::Status set_model_name(Config& config, const ConfigValue& value) {
  config.model_name =
      enum_of<exporter::ModelName>(value, std::to_array<std::string_view>({"plain", "dashes"}));
  return {};
}

base::Status set_command_style(Config& config, const ConfigValue& value) {
  config.command_style = enum_of<host::CommandStyle>(
      value, std::to_array<std::string_view>({"name", "redacted", "full"}));
  return {};
}

base::Status set_log_level(Config& config, const ConfigValue& value) {
  config.log_level = enum_of<base::LogLevel>(
      value, std::to_array<std::string_view>({"error", "warning", "notice", "debug"}));
  return {};
}

constexpr auto kKeys = std::to_array<ConfigKey>({
#define KEY(...) {__VA_ARGS__},
#include "app/config_keys.inc"
#undef KEY
});

bool is_number(ConfigType type) {
  return type == ConfigType::kSeconds || type == ConfigType::kRatio || type == ConfigType::kCount;
}

Message expected_type(ConfigType type) {
  switch (type) {
    case ConfigType::kText:
    case ConfigType::kWord:
      return Message::config_wants_text;
    case ConfigType::kTexts:
      return Message::config_wants_texts;
    case ConfigType::kSeconds:
    case ConfigType::kRatio:
      return Message::config_wants_number;
    case ConfigType::kCount:
      return Message::config_wants_count;
  }
  return Message::config_wants_text;
}

bool has_type(const ConfigKey& key, const ConfigValue& value) {
  switch (key.type) {
    case ConfigType::kText:
    case ConfigType::kWord:
      return std::holds_alternative<std::string>(value);
    case ConfigType::kTexts:
      return std::holds_alternative<std::vector<std::string>>(value);
    case ConfigType::kSeconds:
    case ConfigType::kRatio:
      return std::holds_alternative<double>(value);
    case ConfigType::kCount:
      return std::holds_alternative<double>(value) &&
             std::get<double>(value) == std::trunc(std::get<double>(value));
  }
  return false;
}

}  // namespace

std::span<const ConfigKey> config_keys() {
  return kKeys;
}

const ConfigKey* find_config_key(std::string_view name) {
  const auto found = std::find_if(kKeys.begin(), kKeys.end(),
                                  [&](const ConfigKey& key) { return key.name == name; });
  return found == kKeys.end() ? nullptr : found;
}

std::string format_value(const ConfigValue& value) {
  const auto quote = [](const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte == 0x7f) {
        out += fmt::format("\\u{:04x}", byte);
        continue;
      }
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + '"';
  };
  if (const auto* text = std::get_if<std::string>(&value)) return quote(*text);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  std::string out = "[";
  for (const std::string& text : std::get<std::vector<std::string>>(value)) {
    out += (out.size() > 1 ? ", " : "") + quote(text);
  }
  return out + "]";
}

void complain_type(const ConfigKey& key, const std::string& where, Language language,
                   ConfigReading& reading) {
  reading.faults.push_back(where + say(language, expected_type(key.type), key.name));
}

// TOML takes each key but once.
void put_setting(std::string& settings, std::string_view key, const std::string& value) {
  const std::string begin = fmt::format("{} = ", key);
  for (std::size_t at = 0; at < settings.size(); at = settings.find('\n', at) + 1) {
    if (!std::string_view(settings).substr(at).starts_with(begin)) continue;
    settings.erase(at, settings.find('\n', at) + 1 - at);
    break;
  }
  settings += fmt::format("{}{}\n", begin, value);
}

void apply_value(const ConfigKey& key, ConfigValue value, const std::string& where,
                 Language language, ConfigReading& reading) {
  apply_value_by(key, std::move(value), where, language, reading, key.apply);
}

void apply_value_by(const ConfigKey& key, ConfigValue value, const std::string& where,
                    Language language, ConfigReading& reading,
                    const std::function<base::Status(Config&, const ConfigValue&)>& apply) {
  const auto fault = [&](const std::string& line) { reading.faults.push_back(where + line); };
  if (!has_type(key, value)) return complain_type(key, where, language, reading);
  if (is_number(key.type)) {
    double& number = std::get<double>(value);
    if (!(number >= key.low && number <= key.high)) {
      return fault(say(language, Message::config_bounds, key.name, number, key.low, key.high));
    }
    if (number < key.floor) {
      reading.notes.push_back(where +
                              say(language, Message::config_clamped, key.name, number, key.floor));
      number = key.floor;
    }
  }
  if (key.type == ConfigType::kWord) {
    const std::string& word = std::get<std::string>(value);
    const auto words = base::split(key.words, '|');
    if (std::find(words.begin(), words.end(), word) == words.end()) {
      return fault(say(language, Message::config_word, key.name, word, key.words));
    }
  }
  if (const base::Status applied = apply(reading.config, value); !applied) {
    return fault(fmt::format("{}: {}", key.name, translate(applied.error().message, language)));
  }
  put_setting(reading.config.settings, key.name, format_value(value));
}

}  // namespace everywatt::app
