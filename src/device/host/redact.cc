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
  static constexpr std::array<std::string_view, 10> kWords = {
      "token", "passw", "secret", "key", "auth", "credential", "cookie", "session", "pwd", "dsn"};
  const std::string lower = base::to_lower(name);
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// Tokens that services give out, as they begin.
bool is_known_token(std::string_view value) {
  static constexpr std::array<std::string_view, 14> kBegins = {
      "AKIA", "ASIA", "AIza", "hf_",    "ghp_",   "gho_", "ghs_",
      "sk-",  "xox",  "eyJ",  "glpat-", "nvapi-", "gsk_", "github_pat_"};
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

std::string redact(std::string_view argument) {
  std::string text = hide_login(argument);
  const std::size_t secret = find_secret(text);
  if (secret == text.size()) return text;
  return text.replace(secret, std::string::npos, kHidden);
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

std::string redact_at(Place place, std::string_view argument) {
  // A value may begin with a dash; two of them, or a lone letter after it, are the next option.
  const bool is_option =
      argument.starts_with("--") || (argument.starts_with("-") && argument.size() <= 2);
  const auto colon = argument.find(':');
  if (place == Place::kAfterSecretOption && !is_option) return std::string(kHidden);
  if (place == Place::kAfterUserOption && colon != std::string_view::npos) {
    return std::string(argument.substr(0, colon + 1)).append(kHidden);
  }
  return redact(argument);
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
  std::string command;
  Place place = Place::kFree;
  for (const std::string_view word : words) {
    if (!command.empty()) command += ' ';
    command += redact_at(place, word);
    place = place_after(word);
  }
  return command;
}

}  // namespace everywatt::host
