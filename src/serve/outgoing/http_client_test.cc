// SPDX-License-Identifier: Apache-2.0
#include "serve/outgoing/http_client.h"

#include <gtest/gtest.h>

#include "serve/outgoing/mail_client.h"

namespace everywatt::outgoing {
namespace {

// 2026-12-02 06:05:07 UTC
constexpr std::int64_t kNow_ns = 1'796'191'507'000'000'000;

TEST(HttpClient, ReadsRetryAfterInBothForms) {
  EXPECT_EQ(parse_retry_after("7", kNow_ns), 7);
  EXPECT_EQ(parse_retry_after("0", kNow_ns), 0);
  EXPECT_EQ(parse_retry_after("Wed, 02 Dec 2026 06:06:07 GMT", kNow_ns), 60);
  EXPECT_EQ(parse_retry_after("Wed, 02 Dec 2026 06:04:07 GMT", kNow_ns), 0);
  EXPECT_EQ(parse_retry_after("99999999999999999", kNow_ns), 366 * 86'400);
  for (const char* text : {"", "-1", "soon", "1.5", "2026-12-02T06:06:07Z"}) {
    EXPECT_EQ(parse_retry_after(text, kNow_ns), std::nullopt) << text;
  }
}

TEST(HttpClient, ShowsOfAnAddressItsHostAlone) {
  EXPECT_EQ(shown_address("https://oapi.dingtalk.com/robot/send?access_token=T"),
            "https://oapi.dingtalk.com");
  EXPECT_EQ(shown_address("http://user:password@host:80/x"), "http://host:80");
  EXPECT_EQ(shown_address("https://host?key=1"), "https://host");
  EXPECT_EQ(shown_address("https://host#x@y"), "https://host");
  EXPECT_EQ(shown_address("http://[::1]:80/x"), "http://[::1]:80");
  EXPECT_EQ(shown_address("http://[::1]/x"), "http://[::1]");
  EXPECT_EQ(shown_address("no address"), "the address");
  EXPECT_EQ(shown_address("http://user:pass/word@host/"), "the address");
}

class SendingTest : public ::testing::Test {
 protected:
  static HttpOutcome post(HttpRequest request) {
    auto client = HttpClient::open();
    EXPECT_TRUE(client) << client.error().message;
    return client->post(request);
  }
};

TEST_F(SendingTest, RefusesOtherKindsOfAddress) {
  for (const char* url : {"file:///etc/passwd", "ftp://h/", "smtp://h", "gopher://h", "h", ""}) {
    const HttpOutcome outcome = post({.url = Secret(url)});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.error, "the address is not one of http:// or https://") << url;
  }
}

TEST_F(SendingTest, SendsNoHeaderThatHoldsALineBreak) {
  EXPECT_EQ(post({.url = Secret("http://127.0.0.1:1/"), .content_type = "a\r\nX: y"}).error,
            "a header holds a line break");
  EXPECT_EQ(post({.url = Secret("http://127.0.0.1:1/"), .headers = {"A: b\nC: d"}}).error,
            "a header holds a line break");
}

TEST_F(SendingTest, ChecksMailsBeforeItSendsThem) {
  auto client = MailClient::open();
  ASSERT_TRUE(client) << client.error().message;
  MailRequest request{.url = "http://h", .from = "a@b", .to = {"c@d"}};
  EXPECT_NE(client->send(request).error.find("smtp://"), std::string::npos);
  request.url = "smtp://127.0.0.1:1";
  for (const char* bad : {"", "c", "c@d>\r\nDATA", "c d@e"}) {
    request.to = {bad};
    EXPECT_EQ(client->send(request).error, "a mail address is not one") << bad;
  }
}

}  // namespace
}  // namespace everywatt::outgoing
