// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/destination.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace everywatt::remote_write {
namespace {

// However long a sender has nothing to do: a stopped clock or a lost wake-up is not for ever.
constexpr std::int64_t kLongestSleepNs = 10'000'000'000;
// A rule sees how much a count grew from its second value on: these are there before they happen.
constexpr auto kUsualReasons =
    std::to_array({"400", "400_repeated", "401", "403", "404", "413", "422"});

}  // namespace

Destination::Destination(Options options, outgoing::HttpClient client)
    : options_(std::move(options)), client_(std::move(client)) {}

base::Result<std::unique_ptr<Destination>> Destination::open(Options options, std::string folder,
                                                             const exporter::Options& exporter,
                                                             std::uint64_t this_boot) {
  auto client = outgoing::HttpClient::open();
  if (!client) return std::unexpected(std::move(client.error()));
  auto queue = Queue::open(
      {.folder = std::move(folder), .limit_bytes = options.queue_bytes, .this_boot = this_boot});
  if (!queue) return std::unexpected(std::move(queue.error()));
  std::unique_ptr<Destination> made(new Destination(std::move(options), *std::move(client)));
  Destination& self = *made;
  self.shared_.queue = *std::move(queue);
  if (const std::uint64_t places = self.shared_.queue->damaged_places(); places > 0) {
    base::log(base::LogLevel::kWarning,
              fmt::format("remote write {}: the queue's last file was damaged at its end",
                          self.options_.name));
  }
  std::minstd_rand engine(std::random_device{}());
  self.sender_ = std::make_unique<Sender>(
      self.options_, self.shared_,
      SenderDoors{.post = [&self](const auto& request) { return self.client_.post(request); },
                  .random = [engine, share = std::uniform_real_distribution<double>(
                                         0, 1)]() mutable { return share(engine); }});
  self.taker_ = std::make_unique<Taker>(
      self.options_, exporter, self.shared_.queue->last_moment(),
      TakerDoors{.append = [&self](auto bodies,
                                   const Moment& moment) { return self.append(bodies, moment); },
                 .samples_at_most = [&self] { return self.sender_->samples_at_most(); }});
  return made;
}

std::int64_t Destination::take(view::View& view, std::int64_t now_ns) {
  return taker_->step(view, now_ns);
}

base::Status Destination::append(std::span<const exporter::Body> bodies, const Moment& moment) {
  const std::lock_guard lock(shared_.mutex);
  const base::Status put = shared_.queue->append(bodies, moment);
  has_news_ = true;
  news_.notify_one();
  return put;
}

void Destination::sync() {
  const std::lock_guard lock(shared_.mutex);
  // Nothing is lost yet: it is tried again with what comes next.
  [[maybe_unused]] const base::Status synced = shared_.queue->sync();
}

void Destination::send(const std::stop_token& stop) {
  while (!stop.stop_requested())
    wait(sender_->step(stop), stop);
}

void Destination::wait(std::int64_t due_ns, const std::stop_token& stop) {
  std::unique_lock lock(shared_.mutex);
  // With something to send, news does not make it due earlier.
  const bool is_idle = due_ns == Sender::kNothingToSend;
  const std::int64_t wait_ns = std::min(due_ns - base::boottime_ns(), kLongestSleepNs);
  if (wait_ns > 0) {
    news_.wait_for(lock, stop, std::chrono::nanoseconds(wait_ns),
                   [&] { return is_idle && has_news_; });
  }
  has_news_ = false;
}

DestinationStatus Destination::status() {
  const SenderCounts counts = sender_->counts();
  DestinationStatus status{.name = options_.name,
                           .sent_samples_total = counts.sent_samples,
                           .failed_samples_total = counts.failed_samples,
                           .retries_total = counts.retries,
                           .last_success_unix = counts.last_success_unix,
                           .last_error = counts.last_error};
  for (const char* reason : kUsualReasons)
    status.failed_samples_total.try_emplace(reason, 0);
  const std::lock_guard lock(shared_.mutex);
  const Queue& queue = *shared_.queue;
  status.queued_samples = queue.queued_samples();
  status.queued_bytes = queue.queued_bytes();
  status.dropped_samples_total = queue.dropped_samples() + queue.damaged_samples();
  return status;
}

}  // namespace everywatt::remote_write
