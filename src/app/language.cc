// SPDX-License-Identifier: Apache-2.0
#include "app/language.h"

#include <cstdlib>

namespace everywatt::app {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

}  // namespace

std::optional<Language> parse_language(std::string_view word) {
  if (word == "en") return Language::kEn;
  if (word == "zh") return Language::kZh;
  return std::nullopt;
}

Language language_of_locale(std::string_view lc_all, std::string_view lc_messages,
                            std::string_view lang) {
  for (const std::string_view locale : {lc_all, lc_messages, lang}) {
    if (locale.empty()) continue;
    return locale.starts_with("zh") ? Language::kZh : Language::kEn;
  }
  return Language::kEn;
}

Language language_of_environment() {
  return language_of_locale(variable("LC_ALL"), variable("LC_MESSAGES"), variable("LANG"));
}

Language find_language(const std::vector<std::string>& words, Language default_language) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view value;
    if (words[i] == "--lang" && i + 1 < words.size()) value = words[i + 1];
    if (words[i].starts_with("--lang=")) value = std::string_view(words[i]).substr(7);
    if (const auto language = parse_language(value)) return *language;
  }
  return default_language;
}

}  // namespace everywatt::app
