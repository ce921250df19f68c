// SPDX-License-Identifier: Apache-2.0
#include "app/courier_desk.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>

#include "base/log.h"
#include "base/text.h"
#include "serve/courier_link/door.h"
#include "serve/courier_link/token_hash.h"

namespace everywatt::app {
namespace {

constexpr int kTurnMs = 250;
constexpr std::int64_t kTellNs = 1'000'000'000;
// Replies and status: of a server that takes none of it the connection is of no use.
constexpr std::size_t kUnsentBytes = std::size_t{1} << 20;
constexpr std::size_t kMessageBytes = 1000;

unsigned http_code(base::Code code) {
  switch (code) {
    case base::Code::kNotFound:
      return 404;
    case base::Code::kInvalidArgument:
      return 400;
    default:
      return 503;
  }
}

}  // namespace

CourierDesk::CourierDesk(CourierDeskOptions options) : options_(std::move(options)) {}

void CourierDesk::run(const std::stop_token& stop) {
  while (!stop.stop_requested())
    turn(kTurnMs);
}

void CourierDesk::turn(int timeout_ms) {
  options_.tick();
  std::array<pollfd, 2> waited{};
  waited[0] = {.fd = options_.door.get(), .events = POLLIN, .revents = 0};
  waited[1] = {.fd = link_ ? link_->fd() : -1, .events = POLLIN, .revents = 0};
  if (link_ && link_->has_unsent()) waited[1].events |= POLLOUT;
  ::poll(waited.data(), waited.size(), timeout_ms);
  if (link_ && (waited[1].revents & POLLOUT) != 0 && !link_->flush()) link_.reset();
  if (link_ && (waited[1].revents & (POLLIN | POLLHUP)) != 0) take_deliveries();
  if (waited[0].revents != 0) take_connection();
  tell(options_.clock());
}

void CourierDesk::take_connection() {
  auto taken = courier_link::take_descriptor(options_.door.get());
  // The supervisor has ended, and we end with it.
  if (!taken) return options_.door.reset();
  if (!*taken) return;
  link_.emplace(*std::move(*taken), kUnsentBytes);
  told_keys_.reset();
  told_status_.reset();
  tell_at_ns_ = 0;
}

void CourierDesk::take_deliveries() {
  const auto frames = link_->receive();
  if (!frames) return link_.reset();
  for (const std::string& frame : *frames) {
    const auto delivery = courier_link::parse_delivery(frame);
    if (!delivery) return link_.reset();
    send(deliver(*delivery));
    if (!link_) return;
  }
}

courier_link::Reply CourierDesk::deliver(const courier_link::Delivery& delivery) {
  const base::Status accepted = options_.accept(delivery.channel, delivery.body);
  if (accepted) return {.id = delivery.id, .code = 202};
  const base::Error& error = accepted.error();
  return {.id = delivery.id,
          .code = http_code(error.code),
          .message = base::clean_text(error.message, kMessageBytes)};
}

void CourierDesk::tell(std::int64_t now_ns) {
  if (now_ns < tell_at_ns_) return;
  tell_at_ns_ = now_ns + kTellNs;
  // Also without a server: what is wrong with a token is said soon.
  courier_link::ChannelKeys keys = read_keys();
  if (link_ && keys != told_keys_) {
    send(keys);
    told_keys_ = std::move(keys);
  }
  if (!link_) return;
  courier_link::Status status = options_.status();
  if (status == told_status_) return;
  send(status);
  told_status_ = std::move(status);
}

courier_link::ChannelKeys CourierDesk::read_keys() {
  courier_link::ChannelKeys keys;
  for (const notify::ChannelOptions& channel : options_.channels) {
    courier_link::ChannelKey key{.name = channel.name};
    std::string fault;
    const auto token = channel.receiver_token.read();
    if (!token) {
      const base::Error& error = token.error();
      fault = fmt::format("notify.{}: receiver_token: {}{}{}", channel.name, error.message,
                          error.hint.empty() ? "" : "; ", error.hint);
    } else if (!token->is_empty()) {
      key.token_sha256 = courier_link::hash_token(token->reveal());
    }
    std::string& told = told_faults_[channel.name];
    if (!fault.empty() && fault != told) base::log(base::LogLevel::kWarning, fault);
    told = std::move(fault);
    keys.push_back(std::move(key));
  }
  return keys;
}

void CourierDesk::send(const courier_link::FromCourier& message) {
  if (link_ && !link_->send(courier_link::format_from_courier(message))) link_.reset();
}

}  // namespace everywatt::app
