// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/mail_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "serve/notify/notify_fixture.h"

namespace everywatt::notify {
namespace {

std::string header(std::string_view mail, std::string_view name) {
  const std::size_t at = mail.find(fmt::format("\r\n{}: ", name));
  if (at == std::string_view::npos) return "";
  const std::string_view rest = mail.substr(at + 4 + name.size());
  return std::string(rest.substr(0, rest.find("\r\n")));
}

std::vector<std::string> write(const Notification& notification, const MailPlace& place) {
  return mail_texts(compose(notification, Language::kChinese),
                    make_options(ChannelType::kMail, Language::kChinese), place);
}

TEST(MailText, HasShortLinesOfAsciiThatEndWithCrLf) {
  for (const std::string& mail : write(storm(300), {"g", "1", kStart_ns})) {
    for (const std::string_view line : base::split(mail, '\n')) {
      if (line.empty()) continue;
      ASSERT_TRUE(line.ends_with('\r'));
      EXPECT_LE(line.size(), 79u);
      EXPECT_TRUE(
          std::ranges::all_of(line, [](char c) { return static_cast<signed char>(c) > 0; }));
    }
  }
}

TEST(MailText, ThreadsTheMailsOfAGroup) {
  const auto first = write(memory_notification(), {"group", "1", kStart_ns});
  const auto second = write(memory_notification(), {"group", "2", kStart_ns});
  const auto other = write(memory_notification(), {"another", "1", kStart_ns});
  EXPECT_EQ(header(first[0], "References"), header(second[0], "References"));
  EXPECT_NE(header(first[0], "References"), header(other[0], "References"));
  EXPECT_NE(header(first[0], "Message-ID"), header(second[0], "Message-ID"));
  // The same mail sent again is known to be the same.
  EXPECT_EQ(first, write(memory_notification(), {"group", "1", kStart_ns}));
  EXPECT_TRUE(header(first[0], "Message-ID").ends_with("@example.com>"));
}

TEST(MailText, SaysThatNobodyWroteIt) {
  const auto mails = write(memory_notification(), {"g", "1", kStart_ns});
  EXPECT_EQ(header(mails[0], "Auto-Submitted"), "auto-generated");
  EXPECT_TRUE(mails[0].starts_with("Date: "));
}

TEST(MailText, EncodesHeadersBetweenCharacters) {
  EXPECT_EQ(encode_header("FIRING 1"), "FIRING 1");
  EXPECT_EQ(encode_header("显"), "=?UTF-8?B?5pi+?=");
  std::string text;
  for (int i = 0; i < 31; ++i)
    text += "显";
  const std::string header = encode_header(text);
  for (std::string_view line : base::split(header, '\n'))
    EXPECT_LE(base::trim(line).size(), 75u);
  // 13 characters of three bytes in the first word, 15 in the others.
  EXPECT_EQ(std::ranges::count(header, '\n'), 2);
  EXPECT_NE(encode_header("a =?UTF-8?B?YQ==?= b").find("=?UTF-8?B?YSA9"), std::string::npos);
}

TEST(MailText, TakesNoHeaderFromALabel) {
  Notification notification = memory_notification();
  for (Alert& alert : notification.alerts)
    alert.labels["alertname"] = "x\r\nBcc: a@b";
  const auto parsed = parse_payload(format_payload(notification));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(header(write(*parsed, {"g", "1", kStart_ns})[0], "Bcc"), "");
}

}  // namespace
}  // namespace everywatt::notify
