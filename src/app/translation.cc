// SPDX-License-Identifier: Apache-2.0
#include "app/translation.h"

#include <array>
#include <optional>
#include <vector>

namespace everywatt::app {
namespace {

constexpr auto kPairs = std::to_array<SentencePair>({
#define SENTENCE(en, zh) {en, zh},
#define ACTION(en, zh) {"cannot " en " {}: {}", "无法" zh " {}:{}"},
#include "app/translations.inc"
#undef SENTENCE
#undef ACTION
});

constexpr std::string_view kPlace = "{}";
// A place's text may hold sentences, but not for ever: it comes from outside.
constexpr int kDepth = 3;

// What stands at the places of `pattern` in `text`; nothing where it is another sentence.
std::optional<std::vector<std::string_view>> match(std::string_view pattern,
                                                   std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t place = pattern.find(kPlace);
  if (place == pattern.npos) return pattern == text ? std::optional(found) : std::nullopt;
  if (!text.starts_with(pattern.substr(0, place))) return std::nullopt;
  text.remove_prefix(place);
  while (place != pattern.npos) {
    pattern.remove_prefix(place + kPlace.size());
    place = pattern.find(kPlace);
    const std::string_view after = pattern.substr(0, place);
    const bool is_last = place == pattern.npos;
    if (is_last && !text.ends_with(after)) return std::nullopt;
    const std::size_t end = is_last ? text.size() - after.size() : text.find(after);
    if (end == text.npos) return std::nullopt;
    found.push_back(text.substr(0, end));
    text.remove_prefix(end + after.size());
  }
  return found;
}

std::string translate_to(std::string_view sentence, int depth) {
  if (depth == 0) return std::string(sentence);
  for (const SentencePair& pair : kPairs) {
    const auto places = match(pair.en, sentence);
    if (!places) continue;
    std::string out;
    std::string_view rest = pair.zh;
    for (const std::string_view place : *places) {
      const std::size_t at = rest.find(kPlace);
      out += rest.substr(0, at);
      out += translate_to(place, depth - 1);
      rest.remove_prefix(at + kPlace.size());
    }
    return out += rest;
  }
  return std::string(sentence);
}

}  // namespace

std::span<const SentencePair> sentence_pairs() {
  return kPairs;
}

std::string translate(std::string_view sentence, Language language) {
  if (language != Language::kZh) return std::string(sentence);
  return translate_to(sentence, kDepth);
}

base::Error translate(const base::Error& error, Language language) {
  return {.code = error.code,
          .message = translate(error.message, language),
          .hint = translate(error.hint, language)};
}

}  // namespace everywatt::app
