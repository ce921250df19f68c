// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/courier_link/link.h"
#include "serve/courier_link/messages.h"
#include "serve/notify/channel_options.h"

namespace everywatt::app {

struct CourierDeskOptions {
  base::UniqueFd door;
  std::vector<notify::ChannelOptions> channels;
  // Puts a notification on the disk: notify::Notifier::accept().
  std::function<base::Status(std::string_view channel, std::string_view payload)> accept;
  std::function<courier_link::Status()> status;
  // Called about four times a second.
  std::function<void()> tick = [] {};
  base::Clock clock = base::boottime_ns;
};

// Where the courier hears the server: takes what was posted, and tells what became of it, who may
// post, and how things stand. Reads the receivers' tokens anew each second. One thread.
class CourierDesk {
 public:
  explicit CourierDesk(CourierDeskOptions options);

  // Until the token stops it, which it sees within 250 ms.
  void run(const std::stop_token& stop);
  // One round of it: waits for at most so long.
  void turn(int timeout_ms);

 private:
  void take_connection();
  void take_deliveries();
  courier_link::Reply deliver(const courier_link::Delivery& delivery);
  void tell(std::int64_t now_ns);
  courier_link::ChannelKeys read_keys();
  void send(const courier_link::FromCourier& message);

  CourierDeskOptions options_;
  std::optional<courier_link::Link> link_;
  std::optional<courier_link::ChannelKeys> told_keys_;
  std::optional<courier_link::Status> told_status_;
  std::map<std::string, std::string> told_faults_;  // of tokens, by channel
  std::int64_t tell_at_ns_ = 0;
};

}  // namespace everywatt::app
