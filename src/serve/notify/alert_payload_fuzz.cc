// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/fuzz_target.h"
#include "serve/notify/mail_text.h"
#include "serve/notify/payload.h"
#include "serve/notify/robots.h"

namespace everywatt::notify {
namespace {

void judge_bodies(const std::vector<std::string>& bodies, std::size_t limit_bytes) {
  CHECK(!bodies.empty());
  for (const std::string& body : bodies) {
    CHECK(body.size() <= limit_bytes);
    CHECK(base::is_utf8(body));
    CHECK(nlohmann::json::accept(body));
  }
}

}  // namespace

// Whatever somebody posts as a notification of Alertmanager is refused in one line, or becomes
// bodies that each robot takes, and is the same after a night on the disk.
FUZZ_TARGET(alert_payload) {
  const auto notification = parse_payload(bytes);
  if (!notification) {
    CHECK(base::is_clean(notification.error().message));
    return;
  }
  const auto again = parse_payload(format_payload(*notification));
  CHECK(again && *again == *notification);
  ChannelOptions options{.name = "ops", .at_mobiles = {"13800000000"}};
  options.at_all_critical = AtAllCritical::kYes;
  options.from = "a@b";
  options.to = {"c@d"};
  const Message message = compose(*notification, Language::kChinese);
  judge_bodies(dingtalk_bodies(message, options), 19'999);
  judge_bodies(wecom_bodies(message, options), 20'000);
  judge_bodies(feishu_bodies(message, options), 20'000);
  judge_bodies(slack_bodies(message, options), 60'000);
  for (const std::string& mail : mail_texts(message, options, {"g", "1", 0})) {
    CHECK(base::is_utf8(mail));
  }
}

}  // namespace everywatt::notify
