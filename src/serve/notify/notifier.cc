// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/notifier.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "serve/notify/channel.h"
#include "serve/notify/payload.h"
#include "serve/notify/words.h"

namespace everywatt::notify {
namespace {

// Only spreads attempts in time.
std::function<double()> make_random() {
  return [engine = std::minstd_rand(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
}

Notification sample(const Words& words, std::int64_t wall_ns) {
  Alert alert;
  alert.labels = {{"alertname", "EverywattTest"}, {"severity", "info"}};
  alert.annotations = {{"summary", std::string(words.sample_summary)},
                       {"description", std::string(words.sample_description)}};
  alert.starts_at_ns = wall_ns;
  alert.fingerprint = "0000000000000000";
  Notification notification;
  notification.group_key = "{}:{alertname=\"EverywattTest\"}";
  notification.receiver = "test";
  notification.group_labels = {{"alertname", "EverywattTest"}};
  notification.common_labels = alert.labels;
  notification.common_annotations = alert.annotations;
  notification.alerts.push_back(std::move(alert));
  return notification;
}

base::Code code_of(const Verdict& verdict) {
  switch (verdict.kind) {
    case VerdictKind::kRetry:
      return base::Code::kUnavailable;
    case VerdictKind::kRefused:
      return verdict.reason == Reason::kSecurity ? base::Code::kNoPermission
                                                 : base::Code::kInvalidArgument;
    default:
      return base::Code::kInvalidArgument;
  }
}

}  // namespace

struct Notifier::State {
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<std::string> names;

  Channel* find(std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return nullptr;
    return channels[static_cast<std::size_t>(found - names.begin())].get();
  }
};

Notifier::Notifier(std::unique_ptr<State> state) : state_(std::move(state)) {}
Notifier::~Notifier() = default;

base::Result<std::unique_ptr<Notifier>> Notifier::open(std::vector<ChannelOptions> channels,
                                                       std::string spool_folder) {
  if (::mkdir(spool_folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return base::fail_errno("make", spool_folder);
  }
  auto state = std::make_unique<State>();
  for (ChannelOptions& options : channels) {
    if (auto checked = check_options(options); !checked) return std::unexpected(checked.error());
    if (state->find(options.name) != nullptr) {
      return base::fail(base::Code::kInvalidArgument,
                        fmt::format("notify.{} is there twice", options.name));
    }
    auto spool = Spool::open(fmt::format("{}/{}", spool_folder, options.name));
    if (!spool) return std::unexpected(spool.error());
    state->names.push_back(options.name);
    state->channels.push_back(
        std::make_unique<Channel>(std::move(options), std::move(*spool),
                                  Surroundings{.random = make_random(), .door = open_door()}));
  }
  return std::unique_ptr<Notifier>(new Notifier(std::move(state)));
}

base::Status Notifier::accept(std::string_view channel, std::string_view payload) {
  Channel* found = state_->find(channel);
  if (found == nullptr) {
    return base::fail(base::Code::kNotFound, "there is no such channel",
                      "channels are the [notify.NAME] of the configuration");
  }
  const auto notification = parse_payload(payload);
  if (!notification) return std::unexpected(notification.error());
  return found->accept(*notification);
}

void Notifier::run(std::stop_token stop) {
  // A thread each: a mail server that hangs must not hold up a chat.
  std::vector<std::jthread> threads;
  for (const auto& channel : state_->channels) {
    threads.emplace_back([&channel, stop] { channel->run(stop); });
  }
}

std::vector<ChannelStatus> Notifier::status() const {
  std::vector<ChannelStatus> all;
  for (const auto& channel : state_->channels)
    all.push_back(channel->status());
  return all;
}

base::Result<std::string> send_sample(const ChannelOptions& options) {
  if (auto checked = check_options(options); !checked) return std::unexpected(checked.error());
  const std::int64_t wall_ns = base::walltime_ns();
  const Notification notification = sample(words_of(options.language), wall_ns);
  const std::unique_ptr<Door> door = open_door();
  Delivery delivery(options, *door, base::walltime_ns);
  PartPlace place{.unique = fmt::format("{}", wall_ns), .wall_ns = wall_ns};
  std::string said;
  for (std::size_t parts = 1; place.index < parts; ++place.index) {
    const PartOutcome outcome = delivery.send_part(notification, place, {});
    if (outcome.verdict.kind != VerdictKind::kDelivered) {
      return base::fail(code_of(outcome.verdict), outcome.verdict.said, outcome.verdict.hint);
    }
    parts = outcome.parts;
    said = outcome.verdict.said;
  }
  return said;
}

}  // namespace everywatt::notify
