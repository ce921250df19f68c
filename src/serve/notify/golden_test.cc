// SPDX-License-Identifier: Apache-2.0
// The whole bodies that each channel is sent, in both languages.
#include <nlohmann/json.hpp>

#include "serve/notify/body_template.h"
#include "serve/notify/mail_text.h"
#include "serve/notify/notify_fixture.h"
#include "serve/notify/robots.h"

namespace everywatt::notify {
namespace {

std::string_view code_of(Language language) {
  return language == Language::kEnglish ? "en" : "zh";
}

std::vector<std::string> write(ChannelType type, const Message& message,
                               const ChannelOptions& options) {
  switch (type) {
    case ChannelType::kDingTalk:
      return dingtalk_bodies(message, options);
    case ChannelType::kWeCom:
      return wecom_bodies(message, options);
    case ChannelType::kFeishu:
      return feishu_bodies(message, options);
    case ChannelType::kSlack:
      return slack_bodies(message, options);
    default:
      return mail_texts(message, options, {"{}:{}", "1", kStart_ns});
  }
}

// Robots' bodies as they are sent, one a line.
void expect_bodies(const std::string& name, const std::vector<std::string>& bodies) {
  std::string text;
  for (const std::string& body : bodies)
    text += body + "\n";
  expect_golden(name, text);
}

class Golden : public ::testing::TestWithParam<std::tuple<ChannelType, Language>> {
 protected:
  Zone zone_;
};

TEST_P(Golden, SaysTheMemoryAlert) {
  const auto [type, language] = GetParam();
  ChannelOptions options = make_options(type, language);
  if (type == ChannelType::kDingTalk || type == ChannelType::kWeCom) {
    options.at_mobiles = {"13800000000"};
  }
  const Message message = compose(memory_notification(), language);
  expect_bodies(fmt::format("{}.memory.{}", type_name(type), code_of(language)),
                write(type, message, options));
}

TEST_P(Golden, SaysADigestOfCriticals) {
  const auto [type, language] = GetParam();
  ChannelOptions options = make_options(type, language);
  if (type != ChannelType::kMail) options.at_all_critical = AtAllCritical::kYes;
  const Notification hot = make_notification({make_alert("GpuHot", "critical", "3")});
  const Notification memory = memory_notification();
  const Notification digest = merge({&hot, &memory});
  expect_bodies(fmt::format("{}.digest.{}", type_name(type), code_of(language)),
                write(type, compose(digest, language), options));
}

INSTANTIATE_TEST_SUITE_P(
    Channels, Golden,
    ::testing::Combine(::testing::Values(ChannelType::kDingTalk, ChannelType::kWeCom,
                                         ChannelType::kFeishu, ChannelType::kSlack,
                                         ChannelType::kMail),
                       ::testing::Values(Language::kEnglish, Language::kChinese)),
    [](const auto& each) {
      return fmt::format("{}_{}", type_name(std::get<0>(each.param)),
                         code_of(std::get<1>(each.param)));
    });

TEST(WebhookGolden, SendsAlertmanagersShape) {
  expect_golden("webhook.json", format_payload(memory_notification()) + "\n");
}

TEST(WebhookGolden, FillsATemplateForTextMessages) {
  const Zone zone;
  const auto form = BodyTemplate::parse("to={{ to }}&text={{ brief 70 }}&n={{ firing }}\n");
  ASSERT_TRUE(form) << form.error().message;
  ChannelOptions options = make_options(ChannelType::kWebhook, Language::kChinese);
  options.to = {"13800000000", "13900000000"};
  expect_golden("webhook.form.zh",
                form->render(memory_notification(), options, Escaping::kForm) + "\n");
}

}  // namespace
}  // namespace everywatt::notify
