// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/delivery.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/notify/fake_door.h"
#include "serve/notify/notify_fixture.h"
#include "serve/notify/signing.h"

namespace everywatt::notify {
namespace {

constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

class DeliveryTest : public ::testing::Test {
 protected:
  PartOutcome send(const ChannelOptions& options) {
    Delivery delivery(options, door_, [] { return kStart_ns; });
    return delivery.send_part(memory_notification(), {}, {});
  }

  Zone zone_;
  Folder folder_;
  Mailbox mailbox_;
  FakeDoor door_{mailbox_};
};

TEST_F(DeliveryTest, SignsForDingTalkInTheAddress) {
  ChannelOptions options = make_options(ChannelType::kDingTalk);
  options.url_source.file =
      folder_.write("url", fmt::format(" https://d/r?access_token={}\n", kToken));
  options.secret.file = folder_.write("secret", "SECabc\n");
  EXPECT_EQ(send(options).verdict.kind, VerdictKind::kDelivered);
  EXPECT_EQ(
      mailbox_.requests[0].url.reveal(),
      fmt::format("https://d/r?access_token={}&timestamp={}&sign={}", kToken, kStart_ns / 1'000'000,
                  percent_encode(sign_dingtalk(kStart_ns / 1'000'000, "SECabc"))));
}

TEST_F(DeliveryTest, SignsForNobodyWhoHasNoSecret) {
  ChannelOptions options = make_options(ChannelType::kDingTalk);
  options.url_source.file = folder_.write("url", "https://d/r?access_token=1");
  (void)send(options);
  EXPECT_EQ(mailbox_.requests[0].url.reveal(), "https://d/r?access_token=1");
}

TEST_F(DeliveryTest, SignsForFeishuInTheBody) {
  ChannelOptions options = make_options(ChannelType::kFeishu);
  options.url_source.file = folder_.write("url", "https://f/open-apis/bot/v2/hook/1");
  options.secret.file = folder_.write("secret", "s");
  (void)send(options);
  const auto body = nlohmann::json::parse(mailbox_.bodies[0]);
  EXPECT_EQ(body["timestamp"], fmt::format("{}", kStart_ns / 1'000'000'000));
  EXPECT_EQ(body["sign"], sign_feishu(kStart_ns / 1'000'000'000, "s"));
  EXPECT_EQ(body["msg_type"], "interactive");
}

TEST_F(DeliveryTest, TakesOnlyACustomBotOfFeishu) {
  ChannelOptions options = make_options(ChannelType::kFeishu);
  options.url_source.file =
      folder_.write("url", "https://f/flow/api/trigger-webhook/secretsecretsecret");
  const PartOutcome outcome = send(options);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kHold);
  EXPECT_NE(outcome.verdict.said.find("/bot/v2/hook/"), std::string::npos);
  EXPECT_EQ(outcome.verdict.said.find("secretsecret"), std::string::npos);
  EXPECT_TRUE(mailbox_.requests.empty());
}

TEST_F(DeliveryTest, ShowsNoSecretThatAnAnswerQuotes) {
  ChannelOptions options = make_options(ChannelType::kWebhook);
  options.url_source.file =
      folder_.write("url", fmt::format("https://h/hook/{}?key=abcdef0123456789", kToken));
  options.secret.file = folder_.write("secret", "bearer-secret");
  mailbox_.answers = {
      {.status = 400,
       .body = fmt::format("bad https://h/hook/{0}?key=abcdef0123456789 {0} abcdef0123456789 "
                           "Bearer bearer-secret",
                           kToken)}};
  const std::string said = send(options).verdict.said;
  for (const std::string_view secret :
       {kToken, std::string_view("abcdef0123456789"), std::string_view("bearer-secret")}) {
    EXPECT_EQ(said.find(secret), std::string::npos) << said;
  }
  EXPECT_TRUE(said.starts_with("HTTP 400 bad ***"));
}

TEST_F(DeliveryTest, ShowsNoSignatureThatAnAnswerQuotes) {
  ChannelOptions options = make_options(ChannelType::kDingTalk);
  options.url_source.file =
      folder_.write("url", fmt::format("https://d/r?access_token={}", kToken));
  options.secret.file = folder_.write("secret", "SECabc");
  (void)send(options);
  const std::string signed_url = mailbox_.requests[0].url.reveal();
  mailbox_.answers = {{.status = 404, .body = signed_url.substr(signed_url.find("/r?"))}};
  const std::string said = send(options).verdict.said;
  EXPECT_EQ(said, "HTTP 404 /r?access_token=***&timestamp=***&sign=***");
}

TEST_F(DeliveryTest, LogsInToAWebhook) {
  ChannelOptions options = make_options(ChannelType::kWebhook);
  options.url_source = {};
  options.url = "https://h/hook";
  options.username = "u";
  options.password.file = folder_.write("password", "p w\n");
  options.content_type = "text/plain";
  options.template_file = folder_.write("template", "{{ title }}");
  EXPECT_EQ(send(options).verdict.kind, VerdictKind::kDelivered);
  EXPECT_EQ(mailbox_.requests[0].username, "u");
  EXPECT_EQ(mailbox_.requests[0].password.reveal(), "p w");
  EXPECT_EQ(mailbox_.requests[0].content_type, "text/plain");
  EXPECT_EQ(mailbox_.bodies[0], "FIRING 1, RESOLVED 1 · GpuHot, GpuMemoryHigh · node-1:9400");
}

TEST_F(DeliveryTest, HoldsWhereATemplateIsWrong) {
  ChannelOptions options = make_options(ChannelType::kWebhook);
  options.url_source.file = folder_.write("url", "https://h/");
  options.template_file = folder_.write("template", "{{ titel }}");
  EXPECT_EQ(send(options).verdict.kind, VerdictKind::kHold);
  folder_.write("template", "{\"x\": {{ title }}}");
  const PartOutcome outcome = send(options);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kHold);
  EXPECT_NE(outcome.verdict.said.find("does not make JSON"), std::string::npos);
  folder_.write("template", "{\"x\": \"{{ title }}\"}");
  EXPECT_EQ(send(options).verdict.kind, VerdictKind::kDelivered);
}

}  // namespace
}  // namespace everywatt::notify
