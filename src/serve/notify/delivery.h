// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "serve/notify/channel_options.h"
#include "serve/notify/notification.h"
#include "serve/notify/verdict.h"
#include "serve/outgoing/http_client.h"
#include "serve/outgoing/mail_client.h"

namespace everywatt::notify {

// The way to the channels, for a test to stand in.
class Door {
 public:
  virtual ~Door() = default;
  virtual outgoing::HttpOutcome post(const outgoing::HttpRequest& request) = 0;
  virtual outgoing::MailOutcome send(const outgoing::MailRequest& request) = 0;
};

// By libcurl, which is loaded with the first message.
std::unique_ptr<Door> open_door();

// Which message of a notification, in which form.
struct PartPlace {
  std::size_t index = 0;
  std::string unique{};      // of the notification: its mails are the same when sent again
  std::int64_t wall_ns = 0;  // when it came
  enum class Form { kWhole, kPlain } form = Form::kWhole;
};

struct PartOutcome {
  Verdict verdict{};
  std::size_t parts = 0;  // of this notification; unknown with kHold
};

// Writes a notification for one channel, signs and sends it, a message at a time. Reads secrets and
// templates at each, so that changed ones count at once. Used by one thread.
class Delivery {
 public:
  Delivery(const ChannelOptions& options, Door& door, base::Clock wall_ns)
      : options_(options), door_(door), wall_ns_(std::move(wall_ns)) {}

  // `stop` ends a request that runs. What the verdict says holds no secret.
  PartOutcome send_part(const Notification& notification, const PartPlace& place,
                        std::stop_token stop);

 private:
  base::Result<std::vector<std::string>> write(const Notification& notification,
                                               const PartPlace& place) const;
  base::Result<Verdict> post(std::string body, std::stop_token stop);
  base::Result<Verdict> mail(std::string message, std::stop_token stop);

  const ChannelOptions& options_;
  Door& door_;
  base::Clock wall_ns_;
};

}  // namespace everywatt::notify
