// SPDX-License-Identifier: Apache-2.0
#include "device/host/redact.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "device/host/lines.h"

namespace everywatt::host {
namespace {

constexpr std::string_view kHidden = "***";

bool looks_secret(std::string_view name) {
  static constexpr std::array<std::string_view, 15> kWords = {
      "token", "pass", "secret", "key", "auth",    "credential", "cookie",           "session",
      "pwd",   "dsn",  "bearer", "jwt", "webhook", "signature",  "connection-string"};
  const std::string lower = base::to_lower(name);
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// Tokens that services give out, as they begin.
bool is_known_token(std::string_view value) {
  static constexpr auto kBegins = std::to_array<std::string_view>(
      {"AKIA",        "ASIA",     "AIza",   "ya29.",      "hf_",       "r8_",    "xai-",
       "sk-",         "sk_",      "rk_",    "pk_",        "gsk_",      "nvapi-", "ghp_",
       "gho_",        "ghs_",     "ghu_",   "ghr_",       "glpat-",    "glsa_",  "dckr_pat",
       "github_pat_", "npm_",     "pypi-",  "xox",        "xapp-",     "eyJ",    "hvs.",
       "SG.",         "lin_api_", "dop_v1", "AGE-SECRET", "-----BEGIN"});
  return value.size() >= 12 && std::ranges::any_of(kBegins, [&](std::string_view begin) {
           return value.starts_with(begin);
         });
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// https://user:password@host, user:password@tcp(host)/name
std::string hide_login(std::string_view argument) {
  const auto scheme = argument.find("://");
  const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  // A password may hold the sign itself: the last one ends it.
  const auto at = argument.rfind('@');
  const auto colon = argument.find(':', begin);
  const bool has_login = at != std::string_view::npos && at > begin &&
                         (scheme != std::string_view::npos || colon < at);
  if (!has_login) return std::string(argument);
  return std::string(argument.substr(0, begin)).append(kHidden).append(argument.substr(at));
}

// Where the secret part of an argument begins, or its size.
std::size_t find_secret(std::string_view argument) {
  for (std::size_t i = 0; i < argument.size(); ++i) {
    const bool starts_word = i == 0 || !is_letter_or_digit(argument[i - 1]);
    if (starts_word && is_known_token(argument.substr(i))) return i;
    // NAME=value, --set=login.token=value, {"password": "value"}, Authorization: Bearer value
    const bool separates = argument[i] == '=' || argument[i] == ':';
    if (separates && looks_secret(argument.substr(0, i))) return i + 1;
  }
  return argument.size();
}

// "Bearer value", "Basic value"; addresses that are themselves the secret.
std::size_t find_marked(std::string_view argument) {
  static constexpr auto kMarks = std::to_array<std::string_view>(
      {"bearer ", "basic ", "hooks.slack.com/", "/api/webhooks/", "?sig=", "&sig="});
  const std::string lower = base::to_lower(argument);
  for (const std::string_view mark : kMarks) {
    if (const auto at = lower.find(mark); at != std::string::npos) return at + mark.size();
  }
  return argument.size();
}

std::string redact(std::string_view argument) {
  std::string text = hide_login(argument);
  const std::size_t secret = std::min(find_secret(text), find_marked(text));
  if (secret == text.size()) return text;
  return text.replace(secret, std::string::npos, kHidden);
}

// Options of one letter that a password follows, at once or as the next argument.
std::string_view password_option(std::string_view program) {
  const auto slash = program.rfind('/');
  const std::string_view name =
      slash == std::string_view::npos ? program : program.substr(slash + 1);
  if (name == "sshpass" || name.starts_with("mysql") || name.starts_with("mariadb")) return "-p";
  if (name == "redis-cli") return "-a";
  if (name == "ldapsearch" || name == "ldapmodify") return "-w";
  return {};
}

// What the argument before says about this one.
enum class Place { kFree, kAfterSecretOption, kAfterUserOption };

Place place_after(std::string_view argument) {
  if (argument == "-u" || argument == "--user" || argument == "--proxy-user") {
    return Place::kAfterUserOption;
  }
  const bool is_option = argument.starts_with("-") && argument.find('=') == std::string_view::npos;
  return is_option && looks_secret(argument) ? Place::kAfterSecretOption : Place::kFree;
}

// A value may begin with a dash; two of them, or a lone letter after it, are the next option.
bool is_next_option(std::string_view argument) {
  return argument.starts_with("--") || (argument.starts_with("-") && argument.size() <= 2);
}

std::string redact_at(Place place, std::string_view argument) {
  const auto colon = argument.find(':');
  if (place == Place::kAfterSecretOption && !is_next_option(argument)) return std::string(kHidden);
  if (place == Place::kAfterUserOption && colon != std::string_view::npos) {
    return std::string(argument.substr(0, colon + 1)).append(kHidden);
  }
  return redact(argument);
}

bool is_option_name(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return text.size() <= kLongest && find_secret(text) == text.size() &&
         std::ranges::all_of(text, [](char c) {
           return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

// All but an option's name. Of letters behind one dash only the first is surely an option: the
// others may be its value ("-psecret").
std::string hide_value(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  if (!is_option_name(name)) return std::string(kHidden);
  if (equals != std::string_view::npos) return std::string(name).append("=").append(kHidden);
  if (argument.starts_with("--")) return std::string(argument);
  const bool has_letter =
      argument.size() >= 2 && argument[0] == '-' && !(argument[1] >= '0' && argument[1] <= '9');
  if (!has_letter) return std::string(kHidden);
  return std::string(argument.substr(0, 2)).append(argument.size() > 2 ? kHidden : "");
}

}  // namespace

std::string redact_arguments(std::span<const std::string_view> arguments) {
  if (arguments.empty()) return {};
  // A program that writes a title over its arguments leaves one text with blanks.
  std::vector<std::string_view> words;
  std::string_view title = arguments.front();
  for (std::string_view word = take_word(title); !word.empty(); word = take_word(title))
    words.push_back(word);
  words.insert(words.end(), arguments.begin() + 1, arguments.end());
  const std::string_view option = words.empty() ? "" : password_option(words.front());
  std::string command;
  Place place = Place::kFree;
  for (const std::string_view word : words) {
    if (!command.empty()) command += ' ';
    if (!option.empty() && word.starts_with(option)) {
      command += option;
      if (word.size() > option.size()) command += kHidden;
      place = word == option ? Place::kAfterSecretOption : Place::kFree;
      continue;
    }
    command += redact_at(place, word);
    place = place_after(word);
  }
  return command;
}

std::string redact_values(std::span<const std::string_view> arguments) {
  std::string command;
  Place place = Place::kFree;
  for (const std::string_view argument : arguments) {
    if (!command.empty()) command += ' ';
    command += place == Place::kAfterSecretOption && !is_next_option(argument)
                   ? std::string(kHidden)
                   : hide_value(argument);
    place = place_after(argument);
  }
  return command;
}

}  // namespace everywatt::host
