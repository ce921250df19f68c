// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/channel_options.h"

#include <gtest/gtest.h>

#include "serve/notify/channel_traits.h"
#include "serve/notify/notify_fixture.h"

namespace everywatt::notify {
namespace {

std::string fault(const ChannelOptions& options) {
  const auto checked = check_options(options);
  return checked ? "" : checked.error().message;
}

TEST(ChannelOptions, TakesEachTypeWithWhatItNeeds) {
  for (const ChannelTraits& each : all_traits()) {
    EXPECT_EQ(fault(make_options(each.type)), "") << each.name;
    EXPECT_EQ(parse_type(each.name), each.type);
    EXPECT_EQ(type_name(each.type), each.name);
  }
  EXPECT_EQ(parse_type("telegram"), std::nullopt);
}

TEST(ChannelOptions, KeepsEveryBudgetBelowTheServices) {
  for (const ChannelTraits& each : all_traits()) {
    EXPECT_LE(each.per_minute, each.highest_per_minute);
    ChannelOptions options = make_options(each.type);
    options.per_minute = each.highest_per_minute;
    EXPECT_EQ(fault(options), "");
    options.per_minute = each.highest_per_minute + 1;
    EXPECT_NE(fault(options).find("per_minute"), std::string::npos);
    options.per_minute = 0;
    EXPECT_NE(fault(options).find("per_minute"), std::string::npos);
  }
  // In any minute the budget and the burst are the most that there can be.
  EXPECT_LE(traits_of(ChannelType::kDingTalk).highest_per_minute +
                traits_of(ChannelType::kDingTalk).burst,
            20);
  EXPECT_LE(
      traits_of(ChannelType::kFeishu).highest_per_minute + traits_of(ChannelType::kFeishu).burst,
      100);
}

TEST(ChannelOptions, WantsTheAddressOfARobotInAFile) {
  ChannelOptions options = make_options(ChannelType::kDingTalk);
  options.url = "https://oapi.dingtalk.com/robot/send?access_token=T";
  EXPECT_NE(fault(options).find("url_file"), std::string::npos);
  // And does not repeat it.
  EXPECT_EQ(fault(options).find("access_token"), std::string::npos);
  options = make_options(ChannelType::kSlack);
  options.url_source = {};
  EXPECT_EQ(fault(options), "notify.ops: needs url_file or url_env");
}

TEST(ChannelOptions, RefusesKeysOfOtherTypes) {
  ChannelOptions options = make_options(ChannelType::kWeCom);
  options.secret.file = "/x";
  EXPECT_EQ(fault(options), "notify.ops: wecom has no signing secret");
  options = make_options(ChannelType::kFeishu);
  options.at_mobiles = {"13800000000"};
  EXPECT_EQ(fault(options), "notify.ops: at_mobiles is no key of type feishu");
  options = make_options(ChannelType::kSlack);
  options.from = "a@b";
  EXPECT_EQ(fault(options), "notify.ops: from is no key of type slack");
  options = make_options(ChannelType::kMail);
  options.template_file = "/x";
  EXPECT_EQ(fault(options), "notify.ops: template_file is no key of type mail");
  options = make_options(ChannelType::kWebhook);
  options.at_all_critical = AtAllCritical::kYes;
  EXPECT_EQ(fault(options), "notify.ops: at_all_critical is no key of type webhook");
  options = make_options(ChannelType::kWebhook);
  options.password.file = "/x";
  EXPECT_EQ(fault(options), "notify.ops: password_file and password_env need username");
}

TEST(ChannelOptions, ChecksMailAddresses) {
  ChannelOptions options = make_options(ChannelType::kMail);
  for (const char* bad : {"", "a", "@b", "a@", "a@b@c", "a b@c", "a@b\r\nBcc: x@y", "<a@b>"}) {
    options.from = bad;
    EXPECT_NE(fault(options), "") << bad;
  }
  options = make_options(ChannelType::kMail);
  options.to = {};
  EXPECT_NE(fault(options).find("to must be"), std::string::npos);
  options = make_options(ChannelType::kMail);
  options.url = "https://mail";
  EXPECT_NE(fault(options).find("smtp://"), std::string::npos);
}

TEST(ChannelOptions, SendsNoPasswordInTheClear) {
  ChannelOptions options = make_options(ChannelType::kMail);
  options.username = "u";
  options.password.file = "/x";
  EXPECT_EQ(fault(options), "");
  options.starttls = outgoing::Starttls::kOff;
  EXPECT_NE(fault(options).find("in the clear"), std::string::npos);
  options = make_options(ChannelType::kMail);
  options.starttls = outgoing::Starttls::kOff;
  options.url = "smtp://user:password@mail.example:25";
  EXPECT_EQ(fault(options),
            "notify.ops: url has a login in it: that is for username and password_file");
}

TEST(ChannelOptions, AContentTypeIsOneLine) {
  ChannelOptions options = make_options(ChannelType::kWebhook);
  options.content_type = "text/plain\r\nX: y";
  EXPECT_EQ(fault(options), "notify.ops: content_type must be one line");
}

TEST(ChannelOptions, ChecksNames) {
  ChannelOptions options = make_options(ChannelType::kSlack);
  for (const char* bad : {"", "Ops", "a b", "../x", "a.b", "123456789012345678901234567890123"}) {
    options.name = bad;
    EXPECT_NE(fault(options), "") << bad;
  }
}

TEST(ChannelOptions, AsksForOneAddressAndOneLogin) {
  ChannelOptions options = make_options(ChannelType::kWebhook);
  options.url = "https://x";
  EXPECT_NE(fault(options).find("two addresses"), std::string::npos);
  options.url_source = {};
  EXPECT_EQ(fault(options), "");
  options.secret.file = "/x";
  options.username = "u";
  EXPECT_NE(fault(options).find("two ways to log in"), std::string::npos);
  options.url = "ftp://x";
  EXPECT_NE(fault(options).find("http://"), std::string::npos);
}

}  // namespace
}  // namespace everywatt::notify
