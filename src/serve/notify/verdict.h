// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "serve/notify/channel_options.h"
#include "serve/outgoing/http_client.h"
#include "serve/outgoing/mail_client.h"

namespace everywatt::notify {

// Why a notification was not delivered for good, as few as somebody can act on.
enum class Reason {
  kSecurity,  // signature, keyword, address we send from, login
  kAddress,   // the robot, channel or mailbox is not there
  kSize,      // too long for it
  kRequest,   // refused for another cause
  kQuota,     // its plan allows no more
  kAnswer,    // an answer that is not the channel's: a portal's page, a proxy's
  kExpired,   // it could not be reached for a day
};
std::string_view reason_name(Reason reason);
std::span<const Reason> all_reasons();

enum class VerdictKind {
  kDelivered,
  kRetry,     // later, longer each time; after `wait_ns` where the channel says so
  kHold,      // we cannot even try: a secret or a template is not to be had
  kRefused,   // never again
  kTryPlain,  // the same without its blocks
};

struct Verdict {
  VerdictKind kind = VerdictKind::kDelivered;
  Reason reason = Reason::kRequest;
  std::int64_t wait_ns = 0;
  std::string said{};  // one line: what the channel answered
  std::string hint{};  // what to do, or empty
};

// What the answer of a channel means: the status of HTTP, and the code that stands in its body even
// where that status is 200.
Verdict judge_http(ChannelType type, const outgoing::HttpOutcome& outcome);
Verdict judge_mail(const outgoing::MailOutcome& outcome);

}  // namespace everywatt::notify
