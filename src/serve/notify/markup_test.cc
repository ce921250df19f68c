// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/markup.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "serve/notify/notify_fixture.h"
#include "serve/notify/robots.h"

namespace everywatt::notify {
namespace {

constexpr std::string_view kHostile =
    "@all <@everyone> <at id=all></at> <!channel> [x](http://evil) **b** `c` <font> </script> \\ & "
    "_i_";

TEST(Markup, LeavesNothingThatAChannelTakesForItsOwn) {
  for (const Style style : {Style::kDingTalk, Style::kWeCom}) {
    const std::string text = escape(style, kHostile);
    EXPECT_EQ(text.find_first_of("@<>[]*`\\|#~"), std::string::npos) << text;
    EXPECT_EQ(text.find(" _"), std::string::npos);
  }
  const std::string card = escape(Style::kFeishu, kHostile);
  EXPECT_EQ(card.find_first_of("<>[]()*`\\_~"), std::string::npos) << card;
  const std::string slack = escape(Style::kSlack, kHostile);
  EXPECT_EQ(slack.find_first_of("<>*`~"), std::string::npos) << slack;
  const std::string page = escape(Style::kHtml, "<a href=\"x\" title='y'>&");
  EXPECT_EQ(page, "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
}

TEST(Markup, LeavesNamesOfMetricsAsTheyAre) {
  for (const Style style : {Style::kPlain, Style::kDingTalk, Style::kWeCom, Style::kSlack}) {
    EXPECT_EQ(escape(style, "dcgm_fb_used node-1:9400 96 %"), "dcgm_fb_used node-1:9400 96 %");
  }
}

TEST(Markup, LetsNoAddressEndItsLink) {
  EXPECT_EQ(link_target("http://p/graph?a=b(c)&d=[1]|<x>\"'显"),
            "http://p/graph?a=b%28c%29&d=%5B1%5D%7C%3Cx%3E%22%27%E6%98%BE");
  const Line link{.kind = LineKind::kLink, .label = "Source", .url = "http://p/a)b?c&d"};
  EXPECT_EQ(write_line(Style::kDingTalk, link), "[Source](http://p/a%29b?c&d)");
  EXPECT_EQ(write_line(Style::kSlack, link), "<http://p/a%29b?c&amp;d|Source>");
  EXPECT_EQ(write_line(Style::kHtml, link), "<a href=\"http://p/a%29b?c&amp;d\">Source</a>");
  EXPECT_EQ(write_line(Style::kPlain, link), "Source: http://p/a)b?c&d");
}

TEST(Markup, MakesNoLinkOfOtherKindsOfAddress) {
  Notification notification = memory_notification();
  notification.alerts[1].generator_url = "javascript:alert(1)";
  notification.external_url = "file:///etc/passwd";
  const Message message = compose(notification, Language::kEnglish);
  for (const std::string& body : dingtalk_bodies(message, make_options(ChannelType::kDingTalk))) {
    EXPECT_EQ(body.find("javascript"), std::string::npos);
    EXPECT_EQ(body.find("file:"), std::string::npos);
    EXPECT_NE(body.find("Everywatt"), std::string::npos);
  }
}

TEST(Markup, CallsNobodyBecauseALabelSaysSo) {
  Notification notification = memory_notification();
  for (Alert& alert : notification.alerts) {
    alert.labels["gpu"] = kHostile;
    alert.labels["alertname"] = kHostile;
    alert.annotations["summary"] = kHostile;
    alert.annotations[std::string("odd **name** @all")] = kHostile;
  }
  const Message message = compose(notification, Language::kEnglish);
  const auto whole = [](const std::vector<std::string>& bodies) {
    std::string text;
    for (const std::string& body : bodies)
      text += body;
    return text;
  };
  ChannelOptions options = make_options(ChannelType::kWeCom);
  // The title of a card and of a notification is plain text, the rest is not.
  EXPECT_EQ(whole(wecom_bodies(message, options)).find('@'), std::string::npos);
  EXPECT_EQ(
      whole(feishu_bodies(message, options)).find("<at id=all></at>", message.title.size() + 200),
      std::string::npos);
  const std::string slack = whole(slack_bodies(message, options));
  EXPECT_EQ(slack.find("\"text\":\"<!channel>"), std::string::npos);
  EXPECT_EQ(slack.find("*<!channel>"), std::string::npos);
}

TEST(Message, PutsWhatFiresBeforeWhatIsOverAndCriticalsFirst) {
  const Notification notification = make_notification(
      {make_alert("Over", "critical", "0", AlertState::kResolved), make_alert("Info", "info", "1"),
       make_alert("Warn", "warning", "2"), make_alert("Crit", "critical", "3")});
  const Message message = compose(notification, Language::kEnglish);
  std::vector<std::string> names;
  for (const Entry& entry : message.entries)
    names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"Crit", "Warn", "Info", "Over"}));
  EXPECT_EQ(message.tone, Tone::kCritical);
  EXPECT_EQ(message.title, "FIRING 3, RESOLVED 1 · Over, Info, Warn, Crit · node-1:9400");
}

TEST(Message, ShowsWhatIsOverWithItsDuration) {
  const Message message = compose(
      make_notification({make_alert("A", "", "0", AlertState::kResolved)}), Language::kEnglish);
  EXPECT_EQ(message.tone, Tone::kResolved);
  const auto& lines = message.entries[0].lines;
  EXPECT_EQ(lines[0].label, "RESOLVED");
  const auto lasted = std::ranges::find(lines, "Lasted", &Line::label);
  ASSERT_NE(lasted, lines.end());
  EXPECT_EQ(lasted->text, "12 min");
}

TEST(Message, SaysWhatAlertmanagerLeftOut) {
  Notification notification = memory_notification();
  notification.truncated_alerts = 41;
  const Message message = compose(notification, Language::kEnglish);
  ASSERT_EQ(message.head.size(), 1u);
  EXPECT_EQ(message.head[0].text, "Alertmanager itself left out 41 more (its max_alerts).");
}

}  // namespace
}  // namespace everywatt::notify
