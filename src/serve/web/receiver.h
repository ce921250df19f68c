// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/courier_link/link.h"
#include "serve/courier_link/messages.h"
#include "serve/exporter/exposition.h"
#include "serve/web/connections.h"
#include "serve/web/login_cache.h"
#include "serve/web/login_limits.h"
#include "serve/web/message.h"

namespace everywatt::web {

inline constexpr std::string_view kReceiverPath = "/api/v1/notify/alertmanager/";

struct ReceiverOptions {
  base::UniqueFd door = {};  // courier_link::take_descriptor(); not open: the courier never comes
  // All that is configured, with zeros: what is shown until the courier tells how things stand.
  courier_link::Status status = {};
};

// Takes Alertmanager's notifications and hands them to the courier, who puts them on the disk; the
// answer says whether that is done. Knows of a channel's token its SHA-256 alone, and limits how
// often a client may guess it. Keeps no more than kAtOnce bodies. One thread, which never waits
// here.
class Receiver {
 public:
  static constexpr unsigned kAtOnce = 8;
  static constexpr std::size_t kBodyBytes = std::size_t{4} << 20;

  // Connections::watch().
  using Watch = std::function<base::Status(int, Readiness, std::function<Watching()>)>;

  Receiver(ReceiverOptions options, Watch watch, base::Clock clock = base::boottime_ns);

  // Waits for the courier from now on.
  base::Status start();

  // To a request for kReceiverPath + channel. Who is nobody is answered before the body is read.
  Response answer(std::string_view channel, const Request& request);

  // Families of what is sent, and what that costs.
  void append_metrics(exporter::Exposition& out) const;

 private:
  using Answer = std::function<void(Response)>;
  struct Pending {
    Answer answer;
    std::int64_t given_up_ns = 0;
  };

  bool has_channel(std::string_view channel) const;
  std::optional<Response> refuse_sender(std::string_view channel, const Request& request);
  bool knows_sender(const std::string& token_sha256, const Request& request) const;
  std::optional<Response> refuse_request(const Request& request) const;
  void hand_over(const std::string& channel, std::string body, Answer answer);
  Watching take_connection();
  Watching take_messages(std::uint64_t connection);
  void take(const courier_link::FromCourier& message);
  void reply(const courier_link::Reply& reply);
  void watch_unsent();
  void drop_link();
  void forget_given_up();

  base::UniqueFd door_;
  Watch watch_;
  base::Clock clock_;
  courier_link::Status status_;
  std::optional<courier_link::ChannelKeys> keys_;  // nothing: not told yet
  std::unique_ptr<courier_link::Link> link_;       // null: the courier is away
  std::uint64_t connection_ = 0;                   // counts links
  bool is_watching_unsent_ = false;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Pending> pending_;
  LoginLimits limits_;
  LoginCache known_;  // logins that were right, and must not wait for what others guess
  std::shared_ptr<unsigned> at_once_ = std::make_shared<unsigned>(0);
};

}  // namespace everywatt::web
