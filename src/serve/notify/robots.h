// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/notify/channel_options.h"
#include "serve/notify/message.h"

namespace everywatt::notify {

// The JSON bodies that a message becomes at a chat robot, in the order in which they are sent. Each
// is within what the robot takes.
std::vector<std::string> dingtalk_bodies(const Message& message, const ChannelOptions& options);
// One text more at the end where somebody is to be called: WeCom's markdown cannot.
std::vector<std::string> wecom_bodies(const Message& message, const ChannelOptions& options);
std::vector<std::string> feishu_bodies(const Message& message, const ChannelOptions& options);
std::vector<std::string> slack_bodies(const Message& message, const ChannelOptions& options);

// A body of slack_bodies() without its blocks: for a Slack that refuses them.
std::string plain_slack_body(std::string_view body);

// Feishu's signature stands in the body.
std::string sign_feishu_body(std::string_view body, std::int64_t timestamp_s,
                             std::string_view secret);

}  // namespace everywatt::notify
