// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/language.h"
#include "base/result.h"

// Chinese for what the rooms below say in English: they know nothing of languages.
namespace everywatt::app {

// An English sentence with its {} places, and the Chinese one with the same places in that order.
struct SentencePair {
  std::string_view en;
  std::string_view zh;
};
std::span<const SentencePair> sentence_pairs();

// The sentence in that language, with its places filled; as it stands where no pair fits. What
// fills a place is translated in turn: the reason in "cannot open FILE: REASON".
std::string translate(std::string_view sentence, Language language);
// Message and hint.
base::Error translate(const base::Error& error, Language language);

}  // namespace everywatt::app
