// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/outgoing/mail_client.h"
#include "serve/outgoing/secret.h"

namespace everywatt::notify {

enum class ChannelType { kDingTalk, kWeCom, kFeishu, kSlack, kMail, kWebhook };
enum class Language { kEnglish, kChinese };
enum class AtAllCritical { kNo, kYes };

// One [notify.NAME] of the configuration. docs/notify.md says what each key means where.
struct ChannelOptions {
  std::string name{};  // [a-z0-9_-]{1,32}
  ChannelType type = ChannelType::kWebhook;
  Language language = Language::kEnglish;

  std::string url{};  // mail and webhook alone: elsewhere the address is the secret
  outgoing::SecretSource url_source{};
  outgoing::SecretSource secret{};  // DingTalk and Feishu: signing; webhook: bearer token
  std::string ca_file{};
  std::string proxy{};

  std::string username{};  // mail, webhook
  outgoing::SecretSource password{};
  std::string from{};             // mail
  std::vector<std::string> to{};  // mail: addresses; webhook: what its template says {{ to }} for
  outgoing::Starttls starttls = outgoing::Starttls::kRequired;

  std::string template_file{};  // webhook; without one it sends Alertmanager's own JSON
  std::string content_type = "application/json";

  std::vector<std::string> at_mobiles{};  // DingTalk, WeCom
  AtAllCritical at_all_critical = AtAllCritical::kNo;
  std::optional<double> per_minute{};  // nothing: the default of its type

  outgoing::SecretSource receiver_token{};  // what Alertmanager must send; judged by the receiver

  bool operator==(const ChannelOptions&) const = default;
};

// "dingtalk", "wecom", ...; and back, nothing for another word.
std::string_view type_name(ChannelType type);
std::optional<ChannelType> parse_type(std::string_view word);

// What can be told without reading a secret or a template: keys that are missing, that another type
// has, a budget above the channel's own. The message names the key.
base::Status check_options(const ChannelOptions& options);

}  // namespace everywatt::notify
