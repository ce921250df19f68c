// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/channel_traits.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace everywatt::notify {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

// DingTalk and WeCom take 20 a minute, and DingTalk blocks a robot that goes over for ten minutes:
// 17 and a burst of 3 is the most that one minute can see. Feishu takes 100 a minute and 5 a second
// for all robots of one kind in a tenant, Slack about one a second. The others have no limit that
// is known; theirs keeps a storm of alerts from becoming a storm of mails.
constexpr std::array kTraits{
    ChannelTraits{ChannelType::kDingTalk, "dingtalk", 15, 17, 3, 0},
    ChannelTraits{ChannelType::kWeCom, "wecom", 15, 17, 3, 0},
    ChannelTraits{ChannelType::kFeishu, "feishu", 60, 97, 3, kSecond_ns / 3},
    ChannelTraits{ChannelType::kSlack, "slack", 45, 57, 3, kSecond_ns},
    ChannelTraits{ChannelType::kMail, "mail", 15, 600, 5, 0},
    ChannelTraits{ChannelType::kWebhook, "webhook", 60, 6000, 10, 0},
};

}  // namespace

std::span<const ChannelTraits> all_traits() {
  return kTraits;
}

const ChannelTraits& traits_of(ChannelType type) {
  const auto found = std::ranges::find(kTraits, type, &ChannelTraits::type);
  CHECK(found != kTraits.end());
  return *found;
}

}  // namespace everywatt::notify
