// SPDX-License-Identifier: Apache-2.0
#include "app/messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "app/config_key.h"

namespace everywatt::app {
namespace {

// The places of a text in order: "{}", "{:.1f}".
std::vector<std::string> places(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t open = text.find('{'); open != text.npos; open = text.find('{', open + 1)) {
    found.emplace_back(text.substr(open, text.find('}', open) - open + 1));
  }
  return found;
}

bool has_chinese(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0xe3; });
}

TEST(Messages, AreThereInBothLanguagesWithTheSamePlaces) {
  for (const MessageText& message : messages()) {
    EXPECT_FALSE(message.en.empty()) << message.name;
    EXPECT_FALSE(message.zh.empty()) << message.name;
    EXPECT_EQ(places(message.en), places(message.zh)) << message.name;
  }
}

TEST(Messages, AreTranslatedUnlessTheyAreNames) {
  const std::set<std::string_view> names = {"help_markdown", "heading_pid", "heading_gpu",
                                            "sheet_links"};
  for (const MessageText& message : messages()) {
    EXPECT_EQ(has_chinese(message.zh), !names.contains(message.name)) << message.name;
    EXPECT_FALSE(has_chinese(message.en)) << message.name;
  }
}

TEST(Messages, FillTheirPlaces) {
  EXPECT_EQ(say(Language::kEn, Message::unknown_command, "gett"), "unknown command 'gett'");
  EXPECT_EQ(say(Language::kZh, Message::unknown_command, "gett"), "未知命令“gett”");
  EXPECT_EQ(say(Language::kEn, Message::free_too_few, 1, 2), "1 of the 2 GPUs asked for are idle");
}

TEST(Messages, OfTheConfigurationAreThereInBothLanguages) {
  for (const ConfigKey& key : config_keys()) {
    EXPECT_FALSE(key.en.empty()) << key.name;
    EXPECT_TRUE(has_chinese(key.zh)) << key.name;
  }
}

TEST(Language, FollowsTheFirstLocaleVariableThatIsSet) {
  EXPECT_EQ(language_of_locale("", "", ""), Language::kEn);
  EXPECT_EQ(language_of_locale("", "", "zh_CN.UTF-8"), Language::kZh);
  EXPECT_EQ(language_of_locale("C", "zh_CN.UTF-8", "zh_CN.UTF-8"), Language::kEn);
  EXPECT_EQ(language_of_locale("", "zh_TW", "en_US.UTF-8"), Language::kZh);
}

TEST(Language, IsOneOfTwoWords) {
  EXPECT_EQ(parse_language("en"), Language::kEn);
  EXPECT_EQ(parse_language("zh"), Language::kZh);
  EXPECT_EQ(parse_language("de"), std::nullopt);
}

}  // namespace
}  // namespace everywatt::app
