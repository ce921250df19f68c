// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"

namespace everywatt::notify {
namespace {

using nlohmann::json;

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kMinute_ns = 60 * kSecond_ns;
constexpr std::int64_t kLongestWait_ns = 60 * kMinute_ns;
constexpr std::size_t kSaidBytes = 240;

constexpr std::array kReasons{Reason::kSecurity, Reason::kAddress, Reason::kSize,
                              Reason::kRequest,  Reason::kQuota,   Reason::kAnswer,
                              Reason::kExpired};

// A code of a robot's answer. Codes that are not here are refusals.
struct RobotCode {
  ChannelType type;
  std::int64_t code;
  VerdictKind kind;
  Reason reason;
  std::int64_t wait_ns;
  std::string_view hint;
};

constexpr std::string_view kFeishuClock =
    "check secret_file and this machine's clock: the signature is valid for an hour";

constexpr std::array kCodes{
    RobotCode{ChannelType::kDingTalk, -1, VerdictKind::kRetry, Reason::kRequest, 0, ""},
    RobotCode{ChannelType::kDingTalk, 130101, VerdictKind::kRetry, Reason::kRequest,
              10 * kMinute_ns, "it is blocked for ten minutes: lower per_minute"},
    RobotCode{ChannelType::kDingTalk, 310000, VerdictKind::kRefused, Reason::kSecurity, 0,
              "by its settings: a signing secret in secret_file (and this machine's clock within "
              "an hour), the keyword Everywatt, or this machine's address"},
    RobotCode{ChannelType::kDingTalk, 300001, VerdictKind::kRefused, Reason::kAddress, 0,
              "the access_token in url_file is not one: was the robot removed?"},
    RobotCode{ChannelType::kDingTalk, 90030, VerdictKind::kRefused, Reason::kQuota, 0,
              "the plan's quota of webhook calls is used up"},
    RobotCode{ChannelType::kDingTalk, 101002, VerdictKind::kRefused, Reason::kSize, 0, ""},
    RobotCode{ChannelType::kDingTalk, 460101, VerdictKind::kRefused, Reason::kSize, 0, ""},
    RobotCode{ChannelType::kWeCom, -1, VerdictKind::kRetry, Reason::kRequest, 0, ""},
    RobotCode{ChannelType::kWeCom, 45009, VerdictKind::kRetry, Reason::kRequest, kMinute_ns,
              "too many messages a minute: lower per_minute"},
    RobotCode{ChannelType::kWeCom, 40058, VerdictKind::kRefused, Reason::kSize, 0, ""},
    RobotCode{ChannelType::kWeCom, 93000, VerdictKind::kRefused, Reason::kAddress, 0,
              "the key in url_file is not one: was the robot removed?"},
    RobotCode{ChannelType::kFeishu, 11232, VerdictKind::kRetry, Reason::kRequest, 0,
              "too many messages a minute for this tenant"},
    RobotCode{ChannelType::kFeishu, 19021, VerdictKind::kRefused, Reason::kSecurity, 0,
              kFeishuClock},
    RobotCode{ChannelType::kFeishu, 19022, VerdictKind::kRefused, Reason::kSecurity, 0,
              "this machine's address is not on the bot's list"},
    RobotCode{ChannelType::kFeishu, 19024, VerdictKind::kRefused, Reason::kSecurity, 0,
              "the bot asks for a keyword: set it to Everywatt"},
    RobotCode{ChannelType::kFeishu, 19001, VerdictKind::kRefused, Reason::kAddress, 0,
              "the address in url_file is not one: was the bot removed?"},
};

std::string shorten(std::string_view text) {
  return std::string(base::trim(base::clean_text(text, kSaidBytes)));
}

std::string status_and(const outgoing::HttpOutcome& outcome) {
  return fmt::format("HTTP {} {}", outcome.status, shorten(outcome.body));
}

Verdict refuse(Reason reason, std::string said, std::string_view hint = {}) {
  return {.kind = VerdictKind::kRefused,
          .reason = reason,
          .said = shorten(said),
          .hint = std::string(hint)};
}

Verdict retry(std::string said, std::optional<std::int64_t> wait_s = {}) {
  const std::int64_t most_s = kLongestWait_ns / kSecond_ns;
  return {.kind = VerdictKind::kRetry,
          .wait_ns = std::min(wait_s.value_or(0), most_s) * kSecond_ns,
          .said = shorten(said)};
}

// What the status alone tells, or nothing where it is a success.
std::optional<Verdict> judge_status(const outgoing::HttpOutcome& outcome) {
  const int status = outcome.status;
  if (status == 0) return retry(outcome.error);
  if (status == 429 || status == 408 || status >= 500) {
    return retry(status_and(outcome), outcome.retry_after_s);
  }
  if (status >= 200 && status < 300) return std::nullopt;
  if (status >= 300 && status < 400) {
    return refuse(Reason::kAddress, fmt::format("HTTP {}: it leads elsewhere", status),
                  "redirects are not followed: write the address it leads to");
  }
  if (status == 401 || status == 403 || status == 407) {
    return refuse(Reason::kSecurity, status_and(outcome));
  }
  if (status == 404 || status == 410) return refuse(Reason::kAddress, status_and(outcome));
  if (status == 413) return refuse(Reason::kSize, status_and(outcome));
  return refuse(Reason::kRequest, status_and(outcome));
}

std::optional<std::int64_t> find_code(const json& answer, ChannelType type) {
  const std::array<const char*, 2> names = type == ChannelType::kFeishu
                                               ? std::array{"code", "StatusCode"}
                                               : std::array{"errcode", "errcode"};
  for (const char* name : names) {
    const auto found = answer.find(name);
    if (found != answer.end() && found->is_number_integer()) return found->get<std::int64_t>();
  }
  return std::nullopt;
}

std::string find_words(const json& answer) {
  for (const char* name : {"errmsg", "msg", "StatusMessage"}) {
    const auto found = answer.find(name);
    if (found != answer.end() && found->is_string()) return found->get<std::string>();
  }
  return {};
}

// The robots that answer 200 and a code. An answer without one is nobody's promise of anything.
Verdict judge_code(ChannelType type, const outgoing::HttpOutcome& outcome) {
  const json answer = json::parse(outcome.body, nullptr, false);
  const auto code = answer.is_object() ? find_code(answer, type) : std::nullopt;
  if (!code) {
    if (auto verdict = judge_status(outcome)) return *verdict;
    return refuse(Reason::kAnswer, "an answer that is not the robot's: " + status_and(outcome),
                  "is there a proxy or a portal in between?");
  }
  const std::string said = shorten(fmt::format("code {} {}", *code, find_words(answer)));
  // The code is the better witness of the two, but not of success behind a failure.
  if (*code == 0) {
    if (auto verdict = judge_status(outcome)) return *verdict;
    return {.said = said};
  }
  for (const RobotCode& known : kCodes) {
    if (known.type != type || known.code != *code) continue;
    const std::int64_t told_ns =
        std::min(outcome.retry_after_s.value_or(0) * kSecond_ns, kLongestWait_ns);
    return {.kind = known.kind,
            .reason = known.reason,
            .wait_ns = std::max(known.wait_ns, told_ns),
            .said = said,
            .hint = std::string(known.hint)};
  }
  if (auto verdict = judge_status(outcome)) return *verdict;
  return refuse(Reason::kRequest, said);
}

Verdict judge_slack(const outgoing::HttpOutcome& outcome) {
  const std::string word = shorten(outcome.body);
  if (outcome.status == 200 && word == "ok") return {.said = "HTTP 200 ok"};
  if (outcome.status == 400 && (word.starts_with("invalid_blocks") || word == "invalid_payload")) {
    return {.kind = VerdictKind::kTryPlain, .said = status_and(outcome)};
  }
  if (outcome.status == 403 && word == "action_prohibited") {
    return refuse(Reason::kSecurity, status_and(outcome), "the workspace's admins forbid it");
  }
  if (outcome.status == 400 && word == "user_not_found") {
    return refuse(Reason::kAddress, status_and(outcome));
  }
  if (auto verdict = judge_status(outcome)) return *verdict;
  return refuse(Reason::kAnswer, "an answer that is not Slack's: " + status_and(outcome),
                "is there a proxy or a portal in between?");
}

}  // namespace

std::string_view reason_name(Reason reason) {
  switch (reason) {
    case Reason::kSecurity:
      return "security";
    case Reason::kAddress:
      return "address";
    case Reason::kSize:
      return "size";
    case Reason::kRequest:
      return "request";
    case Reason::kQuota:
      return "quota";
    case Reason::kAnswer:
      return "answer";
    case Reason::kExpired:
      return "expired";
  }
  return "request";
}

std::span<const Reason> all_reasons() {
  return kReasons;
}

Verdict judge_http(ChannelType type, const outgoing::HttpOutcome& outcome) {
  if (type == ChannelType::kSlack) return judge_slack(outcome);
  if (type == ChannelType::kWebhook) {
    if (auto verdict = judge_status(outcome)) return *verdict;
    return {.said = status_and(outcome)};
  }
  return judge_code(type, outcome);
}

Verdict judge_mail(const outgoing::MailOutcome& outcome) {
  if (outcome.error.empty()) return {.said = fmt::format("SMTP {}", outcome.code)};
  const std::string said = fmt::format("SMTP {} {}", outcome.code, outcome.error);
  if (outcome.code < 500) return retry(outcome.code == 0 ? outcome.error : said);
  switch (outcome.code) {
    case 530:
    case 534:
    case 535:
    case 538:
      return refuse(Reason::kSecurity, said, "check username and password_file");
    case 550:
    case 551:
    case 553:
      return refuse(Reason::kAddress, said, "check from and to");
    case 552:
      return refuse(Reason::kSize, said);
    default:
      return refuse(Reason::kRequest, said);
  }
}

}  // namespace everywatt::notify
