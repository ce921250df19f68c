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

}  // namespace everywatt::app
