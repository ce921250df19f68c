// SPDX-License-Identifier: Apache-2.0
#include "serve/web/receiver.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "serve/courier_link/door.h"
#include "serve/courier_link/token_hash.h"
#include "serve/web/receiver_metrics.h"

namespace everywatt::web {
namespace {

constexpr std::size_t kUnsentBytes = Receiver::kAtOnce * courier_link::kFrameLimitBytes;
// After it the sender has been answered (Upload::patience).
constexpr std::int64_t kGivenUpNs = 6'000'000'000;

Response away() {
  return json_error(503, "the process that sends is not there: try again");
}

Response no_login() {
  Response response = json_error(401, "a bearer token is wanted, the channel's receiver_token");
  response.challenge = "Bearer realm=\"everywatt\"";
  return response;
}

Response too_often(std::int64_t wait_ns) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  Response response = json_error(429, "too often: try again later");
  response.retry_after_s = static_cast<unsigned>((wait_ns + kSecondNs - 1) / kSecondNs);
  return response;
}

// "Bearer TOKEN": nothing for anything else.
std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (base::to_lower(authorization.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  return base::trim(authorization.substr(kScheme.size()));
}

bool is_json(std::string_view content_type) {
  return base::to_lower(base::trim(content_type.substr(0, content_type.find(';')))) ==
         "application/json";
}

// A page from elsewhere says so.
bool is_same_origin(const Request& request) {
  return request.origin.empty() || request.origin == "http://" + request.host ||
         request.origin == "https://" + request.host;
}

}  // namespace

Receiver::Receiver(ReceiverOptions options, Watch watch, base::Clock clock)
    : door_(std::move(options.door)),
      watch_(std::move(watch)),
      clock_(std::move(clock)),
      status_(std::move(options.status)) {}

base::Status Receiver::start() {
  if (!door_.is_open()) return {};
  return watch_(door_.get(), Readiness::kToRead, [this] { return take_connection(); });
}

bool Receiver::has_channel(std::string_view channel) const {
  return std::ranges::find(status_.channels, channel, &courier_link::ChannelStatus::name) !=
         status_.channels.end();
}

Response Receiver::answer(std::string_view channel, const Request& request) {
  if (!has_channel(channel)) return json_error(404, "no such channel");
  if (request.method != Method::kPost) {
    Response response = json_error(405, "only POST");
    response.allow = "POST";
    return response;
  }
  if (auto refused = refuse_sender(channel, request)) return *std::move(refused);
  if (auto refused = refuse_request(request)) return *std::move(refused);
  if (!link_) return away();
  if (*at_once_ >= kAtOnce) return json_error(503, "too many notifications at once: try again");
  // Goes with the last copy of what it stands for.
  ++*at_once_;
  const std::shared_ptr<unsigned> place(at_once_.get(),
                                        [count = at_once_](unsigned*) { --*count; });
  Response response;
  response.upload = std::make_shared<const Upload>(
      Upload{.limit_bytes = kBodyBytes,
             .take = [this, place, name = std::string(channel)](std::string body, Answer answer) {
               hand_over(name, std::move(body), std::move(answer));
             }});
  return response;
}

// A token of the server's is one that may be guessed here as well: who brings it is let through to
// here without having been counted (Authentication::leave_to_answer()).
std::optional<Response> Receiver::refuse_sender(std::string_view channel, const Request& request) {
  const bool brings_login = request.authorization_fields > 0;
  if (request.who == Who::kAuthenticated && !brings_login) return std::nullopt;
  if (request.who != Who::kAuthenticated && !keys_) return away();
  std::string token_sha256;
  if (keys_) {
    const auto key = std::ranges::find(*keys_, channel, &courier_link::ChannelKey::name);
    if (key != keys_->end()) token_sha256 = key->token_sha256;
  }
  if (request.who != Who::kAuthenticated && token_sha256.empty()) {
    return json_error(403,
                      "this channel has no token: name a file that holds one by "
                      "receiver_token_file in its table of the configuration; if it does, the log "
                      "says why it cannot be read");
  }
  if (!brings_login) return no_login();
  const bool is_known = knows_sender(token_sha256, request);
  const LoginKey login = known_.key_of({request.client, channel, request.authorization});
  if (is_known && known_.contains(login)) return std::nullopt;
  if (const auto wait_ns = limits_.try_fail(request.client, clock_())) return too_often(*wait_ns);
  if (!is_known) return no_login();
  limits_.forgive(request.client, clock_());
  known_.add(login);
  return std::nullopt;
}

bool Receiver::knows_sender(const std::string& token_sha256, const Request& request) const {
  if (request.who == Who::kAuthenticated) return true;
  const auto token = bearer_token(request.authorization);
  return request.authorization_fields == 1 && token &&
         courier_link::is_same_hash(courier_link::hash_token(*token), token_sha256);
}

std::optional<Response> Receiver::refuse_request(const Request& request) const {
  if (!is_same_origin(request)) return json_error(403, "a page from elsewhere may not post here");
  if (!is_json(request.content_type)) return json_error(415, "only application/json");
  return std::nullopt;
}

void Receiver::hand_over(const std::string& channel, std::string body, Answer answer) {
  forget_given_up();
  if (!link_) return answer(away());
  const std::uint64_t id = next_id_++;
  const base::Status sent = link_->send(
      courier_link::format_delivery({.id = id, .channel = channel, .body = std::move(body)}));
  if (!sent) return answer(away());
  pending_[id] = {.answer = std::move(answer), .given_up_ns = clock_() + kGivenUpNs};
  watch_unsent();
}

void Receiver::watch_unsent() {
  if (!link_->has_unsent() || is_watching_unsent_) return;
  const auto flush = [this, connection = connection_] {
    if (!link_ || connection != connection_) return Watching::kEnd;
    if (!link_->flush()) {
      drop_link();
      return Watching::kEnd;
    }
    is_watching_unsent_ = link_->has_unsent();
    return is_watching_unsent_ ? Watching::kGoOn : Watching::kEnd;
  };
  is_watching_unsent_ = watch_(link_->fd(), Readiness::kToWrite, flush).has_value();
}

Watching Receiver::take_connection() {
  auto taken = courier_link::take_descriptor(door_.get());
  if (!taken) return Watching::kEnd;
  if (!*taken) return Watching::kGoOn;
  drop_link();
  link_ = std::make_unique<courier_link::Link>(*std::move(*taken), kUnsentBytes);
  ++connection_;
  const auto receive = [this, connection = connection_] { return take_messages(connection); };
  if (!watch_(link_->fd(), Readiness::kToRead, receive)) drop_link();
  return Watching::kGoOn;
}

Watching Receiver::take_messages(std::uint64_t connection) {
  if (!link_ || connection != connection_) return Watching::kEnd;
  const auto frames = link_->receive();
  if (!frames) {
    drop_link();
    return Watching::kEnd;
  }
  for (const std::string& frame : *frames) {
    const auto message = courier_link::parse_from_courier(frame);
    if (!message) {
      base::log(base::LogLevel::kWarning, "the courier said what is no message");
      drop_link();
      return Watching::kEnd;
    }
    take(*message);
  }
  forget_given_up();
  return Watching::kGoOn;
}

void Receiver::take(const courier_link::FromCourier& message) {
  if (const auto* said = std::get_if<courier_link::Reply>(&message)) return reply(*said);
  if (const auto* keys = std::get_if<courier_link::ChannelKeys>(&message)) {
    keys_ = *keys;
  } else {
    status_ = std::get<courier_link::Status>(message);
  }
}

void Receiver::reply(const courier_link::Reply& reply) {
  const auto found = pending_.find(reply.id);
  if (found == pending_.end()) return;
  const Answer answer = std::move(found->second.answer);
  pending_.erase(found);
  if (reply.code != 202) return answer(json_error(reply.code, reply.message));
  Response response;
  response.status = 202;
  response.content_type = kJson;
  response.body = Body::of_constant("{\"status\":\"queued\"}\n");
  answer(std::move(response));
}

void Receiver::drop_link() {
  link_.reset();
  is_watching_unsent_ = false;
  std::map<std::uint64_t, Pending> lost;
  lost.swap(pending_);
  for (auto& [id, pending] : lost)
    pending.answer(away());
}

void Receiver::forget_given_up() {
  const std::int64_t now_ns = clock_();
  std::erase_if(pending_,
                [now_ns](const auto& entry) { return entry.second.given_up_ns < now_ns; });
}

void Receiver::append_metrics(exporter::Exposition& out) const {
  // Before it has told the tokens nothing can be posted.
  append_courier(status_, link_ && keys_ ? CourierState::kThere : CourierState::kAway, out);
}

}  // namespace everywatt::web
