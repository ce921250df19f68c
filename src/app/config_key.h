// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/config.h"
#include "base/result.h"

namespace everywatt::app {

enum class ConfigType { kText, kWord, kTexts, kSeconds, kRatio, kCount };

using ConfigValue = std::variant<std::string, double, std::vector<std::string>>;

// One key of the configuration: the single place that knows its name, bounds, default and effect.
struct ConfigKey {
  std::string_view name;  // "lanes.gauge_seconds"
  ConfigType type = ConfigType::kText;
  std::string_view fallback;  // the default as TOML writes it
  double low = 0;
  double high = 0;
  // What is below it is raised to it, and said: the source has nothing newer to give.
  double floor = 0;
  std::string_view words = {};  // kWord: those allowed, separated by '|'
  // REQUIRES: a value of the key's type and within its bounds. kInvalidArgument for a text that
  // does not say what it should.
  base::Status (*apply)(Config& config, const ConfigValue& value) = nullptr;
  std::string_view en;
  std::string_view zh;
};

// All of them, in the order of the default file; those of one section follow each other.
std::span<const ConfigKey> config_keys();
const ConfigKey* find_config_key(std::string_view name);

// Checks type and bounds, clamps, and applies. `where` stands before what is said.
void apply_value(const ConfigKey& key, ConfigValue value, const std::string& where,
                 Language language, ConfigReading& reading);

// The same with another effect than the key's own.
void apply_value_by(const ConfigKey& key, ConfigValue value, const std::string& where,
                    Language language, ConfigReading& reading,
                    const std::function<base::Status(Config&, const ConfigValue&)>& apply);

// That its value is of another type than the key's.
void complain_type(const ConfigKey& key, const std::string& where, Language language,
                   ConfigReading& reading);

// As TOML writes it.
std::string format_value(const ConfigValue& value);

// Puts `key = value` among the settings that the other processes get: the last one holds.
void put_setting(std::string& settings, std::string_view key, const std::string& value);

// For the default file: a text as lines of a comment, and what a key's value may be.
std::string format_comment(std::string_view text);
std::string describe_bounds(const ConfigKey& key, Language language);

}  // namespace everywatt::app
