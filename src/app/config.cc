// SPDX-License-Identifier: Apache-2.0
#include "app/config.h"

#include <fmt/format.h>

#include <cstdlib>

#include "app/config_key.h"
#include "app/config_tables.h"
#include "app/messages.h"
#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "serve/web/listening_socket.h"

namespace everywatt::app {
namespace {

std::string home_config_path() {
  const char* home = std::getenv("HOME");
  return home == nullptr ? std::string{} : std::string(home) + "/.config/everywatt/everywatt.toml";
}

}  // namespace

// Wraps at blanks. Chinese has none, and its lines stay whole: a terminal breaks them anywhere.
std::string format_comment(std::string_view text) {
  constexpr std::size_t kWidth = 96;
  std::string out;
  std::string line = "#";
  for (const std::string_view word : base::split_words(text)) {
    if (line.size() > 1 && line.size() + 1 + word.size() > kWidth) {
      out += line + '\n';
      line = "#";
    }
    line += ' ';
    line += word;
  }
  return out + line + '\n';
}

std::string describe_bounds(const ConfigKey& key, Language language) {
  if (!key.words.empty())
    return format_comment(say(language, Message::config_words_comment, key.words));
  if (key.high == 0) return {};
  return format_comment(
      say(language, Message::config_bounds_comment, key.floor > 0 ? key.floor : key.low, key.high));
}

Config default_config() {
  ConfigReading reading;
  for (const ConfigKey& key : config_keys()) {
    read_setting(fmt::format("{}={}", key.name, key.fallback), Language::kEn, reading);
  }
  CHECK(reading.faults.empty());
  reading.config.settings.clear();
  return reading.config;
}

void override_setting(Config& config, std::string_view key, const std::string& value) {
  const ConfigKey* known = find_config_key(key);
  CHECK(known != nullptr);
  ConfigReading reading{.config = std::move(config), .faults = {}, .notes = {}};
  apply_value(*known, ConfigValue(value), "", Language::kEn, reading);
  CHECK(reading.faults.empty());
  config = std::move(reading.config);
}

base::Result<ConfigReading> read_config(const std::string& path,
                                        const std::vector<std::string>& settings,
                                        Language language) {
  ConfigReading reading;
  reading.config = default_config();
  for (const std::string& candidate :
       {path, path.empty() ? "/etc/everywatt/everywatt.toml" : std::string{},
        path.empty() ? home_config_path() : std::string{}}) {
    if (candidate.empty()) continue;
    const auto content = base::read_file(candidate);
    if (!content) {
      if (path.empty()) continue;
      // A file that the user named is input.
      return base::fail(base::Code::kInvalidArgument, content.error().message);
    }
    read_config_text(*content, candidate, language, reading);
    break;
  }
  for (const std::string& setting : settings) {
    read_setting(setting, language, reading);
  }
  check_tables(language, reading);
  return reading;
}

std::string format_default_config(Language language) {
  std::string out = format_comment(text(language, Message::config_file_head));
  std::string_view section;
  for (const ConfigKey& key : config_keys()) {
    const std::size_t dot = key.name.find('.');
    if (key.name.substr(0, dot) != section) {
      section = key.name.substr(0, dot);
      out += fmt::format("\n[{}]\n", section);
    }
    out += '\n' + format_comment(language == Language::kZh ? key.zh : key.en);
    out += describe_bounds(key, language);
    out += fmt::format("#{} = {}\n", key.name.substr(dot + 1), key.fallback);
  }
  out += "\n[groups]\n\n" + format_comment(text(language, Message::config_groups_comment));
  out += "#training = [\"0\", \"1\"]\n";
  return out + format_default_tables(language);
}

base::Result<ListenAddress> parse_listen(std::string_view text) {
  const auto complain = [&text] {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("'{}' is not ADDRESS:PORT such as 127.0.0.1:9400", text));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return complain();
  std::string_view address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != std::string_view::npos) {
    return complain();
  }
  const auto port = base::parse_u64(text.substr(colon + 1));
  if (!port || *port > 65535 || !web::is_listen_address(address)) return complain();
  return ListenAddress{.address = std::string(address), .port = static_cast<std::uint16_t>(*port)};
}

}  // namespace everywatt::app
