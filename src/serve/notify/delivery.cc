// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/delivery.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "serve/notify/body_template.h"
#include "serve/notify/mail_text.h"
#include "serve/notify/payload.h"
#include "serve/notify/robots.h"
#include "serve/notify/signing.h"
#include "serve/outgoing/redact.h"

namespace everywatt::notify {
namespace {

constexpr std::int64_t kMillisecond_ns = 1'000'000;
constexpr std::int64_t kSecond_ns = 1'000 * kMillisecond_ns;
constexpr std::int64_t kHold_ns = 30 * kSecond_ns;

std::string explain(const base::Error& error) {
  return error.hint.empty() ? error.message : fmt::format("{} ({})", error.message, error.hint);
}

class CurlDoor : public Door {
 public:
  outgoing::HttpOutcome post(const outgoing::HttpRequest& request) override {
    if (!http_) {
      auto client = outgoing::HttpClient::open();
      if (!client) return {.error = explain(client.error())};
      http_.emplace(std::move(*client));
    }
    return http_->post(request);
  }

  outgoing::MailOutcome send(const outgoing::MailRequest& request) override {
    if (!mail_) {
      auto client = outgoing::MailClient::open();
      if (!client) return {.error = explain(client.error())};
      mail_.emplace(std::move(*client));
    }
    return mail_->send(request);
  }

 private:
  std::optional<outgoing::HttpClient> http_;
  std::optional<outgoing::MailClient> mail_;
};

Verdict hold(const base::Error& error) {
  return {.kind = VerdictKind::kHold, .wait_ns = kHold_ns, .said = explain(error)};
}

base::Status check_address(ChannelType type, const std::string& url) {
  if (type == ChannelType::kFeishu && url.find("/bot/v2/hook/") == std::string::npos) {
    return base::fail(base::Code::kInvalidArgument,
                      "the address is not that of a custom bot: it has no /bot/v2/hook/",
                      "webhooks of flows ended in 2026: add a custom bot to the group");
  }
  return {};
}

std::string dingtalk_url(const std::string& url, std::int64_t wall_ns, const std::string& secret) {
  const std::int64_t timestamp_ms = wall_ns / kMillisecond_ns;
  return fmt::format("{}{}timestamp={}&sign={}", url,
                     url.find('?') == std::string::npos ? '?' : '&', timestamp_ms,
                     percent_encode(sign_dingtalk(timestamp_ms, secret)));
}

base::Result<std::vector<std::string>> write_webhook(const Notification& notification,
                                                     const ChannelOptions& options) {
  if (options.template_file.empty()) return std::vector{format_payload(notification)};
  const auto text = base::read_file(options.template_file);
  if (!text) return std::unexpected(text.error());
  const auto parsed = BodyTemplate::parse(*text);
  if (!parsed) {
    base::Error error = parsed.error();
    error.message = fmt::format("{}: {}", options.template_file, error.message);
    return std::unexpected(error);
  }
  const Escaping escaping = escaping_of(options.content_type);
  std::string body = parsed->render(notification, options, escaping);
  if (escaping == Escaping::kJson && !nlohmann::json::accept(body)) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("{} does not make JSON", options.template_file),
                      "values stand between quotes: \"{{ title }}\"");
  }
  return std::vector{std::move(body)};
}

}  // namespace

std::unique_ptr<Door> open_door() {
  return std::make_unique<CurlDoor>();
}

base::Result<std::vector<std::string>> Delivery::write(const Notification& notification,
                                                       const PartPlace& place) const {
  if (options_.type == ChannelType::kWebhook) return write_webhook(notification, options_);
  const Message message = compose(notification, options_.language);
  switch (options_.type) {
    case ChannelType::kDingTalk:
      return dingtalk_bodies(message, options_);
    case ChannelType::kWeCom:
      return wecom_bodies(message, options_);
    case ChannelType::kFeishu:
      return feishu_bodies(message, options_);
    case ChannelType::kSlack:
      return slack_bodies(message, options_);
    default:
      return mail_texts(
          message, options_,
          {.group_key = notification.group_key, .unique = place.unique, .wall_ns = place.wall_ns});
  }
}

PartOutcome Delivery::send_part(const Notification& notification, const PartPlace& place,
                                std::stop_token stop) {
  auto bodies = write(notification, place);
  if (!bodies) return {.verdict = hold(bodies.error())};
  const std::size_t parts = bodies->size();
  // What was begun with another version may have had more parts.
  if (place.index >= parts) return {.parts = parts};
  std::string body = std::move((*bodies)[place.index]);
  if (place.form == PartPlace::Form::kPlain) body = plain_slack_body(body);
  auto verdict = options_.type == ChannelType::kMail ? mail(std::move(body), std::move(stop))
                                                     : post(std::move(body), std::move(stop));
  if (!verdict) return {.verdict = hold(verdict.error()), .parts = parts};
  return {.verdict = std::move(*verdict), .parts = parts};
}

base::Result<Verdict> Delivery::post(std::string body, std::stop_token stop) {
  outgoing::Secret url(options_.url);
  if (options_.url_source.is_set()) {
    auto read = options_.url_source.read();
    if (!read) return std::unexpected(read.error());
    url = std::move(*read);
  }
  if (auto checked = check_address(options_.type, url.reveal()); !checked) {
    return std::unexpected(checked.error());
  }
  auto secret = options_.secret.read();
  if (!secret) return std::unexpected(secret.error());
  auto password = options_.password.read();
  if (!password) return std::unexpected(password.error());
  outgoing::HttpRequest request{.url = url, .body = std::move(body)};
  request.ca_file = options_.ca_file;
  request.proxy = options_.proxy;
  request.stop = std::move(stop);
  const bool is_signed = !secret->is_empty();
  if (options_.type == ChannelType::kDingTalk && is_signed) {
    request.url = outgoing::Secret(dingtalk_url(url.reveal(), wall_ns_(), secret->reveal()));
  } else if (options_.type == ChannelType::kFeishu && is_signed) {
    request.body = sign_feishu_body(request.body, wall_ns_() / kSecond_ns, secret->reveal());
  } else if (options_.type == ChannelType::kWebhook) {
    request.content_type = options_.content_type;
    request.username = options_.username;
    request.password = *password;
    request.bearer_token = *secret;
  }
  outgoing::HttpOutcome outcome = door_.post(request);
  outgoing::redact(outcome, request);
  return judge_http(options_.type, outcome);
}

base::Result<Verdict> Delivery::mail(std::string message, std::stop_token stop) {
  auto password = options_.password.read();
  if (!password) return std::unexpected(password.error());
  outgoing::MailRequest request{.url = options_.url,
                                .starttls = options_.starttls,
                                .username = options_.username,
                                .password = *password,
                                .from = options_.from,
                                .to = options_.to,
                                .message = std::move(message)};
  request.ca_file = options_.ca_file;
  request.stop = std::move(stop);
  return judge_mail(door_.send(request));
}

}  // namespace everywatt::notify
