// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/message.h"

#include <algorithm>

#include "serve/notify/notify_fixture.h"

namespace everywatt::notify {
namespace {

Notification in_two_languages() {
  Alert alert = make_alert("GpuHot", "warning", "0");
  alert.annotations = {{"summary", "GPU 0 is hot"}, {"summary_zh", "GPU 0 温度过高"},
                       {"description", "look"},     {"description_zh", "请检查"},
                       {"runbook", "docs"},         {"note_zh", "只有中文"}};
  return make_notification({alert});
}

std::vector<std::string> texts(const Message& message) {
  std::vector<std::string> found;
  for (const Line& line : message.entries.at(0).lines) {
    if (line.kind == LineKind::kPair) found.push_back(line.text);
  }
  return found;
}

bool has(const Message& message, const std::string& text) {
  return std::ranges::count(texts(message), text) == 1;
}

TEST(MessageTest, ShowsAnAnnotationInTheLanguageOfTheMessageAlone) {
  const Zone zone;
  const Message english = compose(in_two_languages(), Language::kEnglish);
  EXPECT_TRUE(has(english, "GPU 0 is hot") && has(english, "look"));
  EXPECT_FALSE(has(english, "GPU 0 温度过高") || has(english, "请检查"));
  const Message chinese = compose(in_two_languages(), Language::kChinese);
  EXPECT_TRUE(has(chinese, "GPU 0 温度过高") && has(chinese, "请检查"));
  EXPECT_FALSE(has(chinese, "GPU 0 is hot") || has(chinese, "look"));
  EXPECT_TRUE(chinese.entries.at(0).brief.text.ends_with("GPU 0 温度过高"));
}

TEST(MessageTest, ShowsWhatTheAlertHasInOneLanguageInBoth) {
  const Zone zone;
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const Message message = compose(in_two_languages(), language);
    EXPECT_TRUE(has(message, "docs") && has(message, "只有中文"));
  }
}

}  // namespace
}  // namespace everywatt::notify
