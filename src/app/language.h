// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/glossary.h"

namespace everywatt::app {

// What people are spoken to in. Names of metrics, keys and states are the same in both.
using Language = catalog::Lang;

// "en", "zh"; nothing for another word.
std::optional<Language> parse_language(std::string_view word);

// What the environment asks for, by the rules of setlocale: LC_ALL, else LC_MESSAGES, else LANG.
Language language_of_locale(std::string_view lc_all, std::string_view lc_messages,
                            std::string_view lang);
Language language_of_environment();

// The language that an error in the words is told in: --lang, wherever it stands, else the default.
Language find_language(const std::vector<std::string>& words, Language default_language);

}  // namespace everywatt::app
