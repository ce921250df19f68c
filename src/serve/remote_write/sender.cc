// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "serve/outgoing/redact.h"

namespace everywatt::remote_write {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMillisecond;
// As Prometheus' own sender waits.
constexpr std::int64_t kShortestWaitNs = 30 * kMillisecond;
constexpr std::int64_t kLongestWaitNs = 5 * kSecond;
// Longer than a receiver that is being moved asks for; a date of next year is a mistake.
constexpr std::int64_t kLongestRetryAfterS = 3600;
// A secret that cannot be read, or a disk: somebody has to do something.
constexpr std::int64_t kTroubleWaitNs = 5 * kSecond;
// A receiver that restarts is not worth a line.
constexpr unsigned kFailuresToLog = 4;
constexpr std::size_t kMostLoggedReasons = 16;
// Each is a series; there are more numbers than a sane receiver has.
constexpr std::size_t kMostReasons = 32;
constexpr std::string_view kVersion = EVERYWATT_VERSION;

// What the receiver says of it, for a line of the log.
std::string first_line(std::string_view body) {
  return base::clean_text(base::trim(body.substr(0, body.find('\n'))), 200);
}

std::string describe(const outgoing::HttpOutcome& outcome) {
  if (outcome.status == 0) return outcome.error;
  const std::string words = first_line(outcome.body);
  return words.empty() ? fmt::format("{}", outcome.status)
                       : fmt::format("{}: {}", outcome.status, words);
}

}  // namespace

Sender::Sender(const Options& options, SharedQueue& queue, SenderDoors doors)
    : options_(options), queue_(queue), doors_(std::move(doors)) {}

std::size_t Sender::samples_at_most() const {
  const std::lock_guard lock(mutex_);
  return samples_at_most_;
}

SenderCounts Sender::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::int64_t Sender::step(const std::stop_token& stop) {
  if (doors_.now_ns() < due_ns_) return due_ns_;
  base::Result<std::optional<Queue::Item>> item;
  {
    const std::lock_guard lock(queue_.mutex);
    item = queue_.queue->next();
  }
  if (!item) return wait_for(item.error().message);
  if (!*item) return kNothingToSend;
  return send(**item, stop);
}

std::int64_t Sender::send(const Queue::Item& item, const std::stop_token& stop) {
  const std::size_t done = item.from - item.record.first;
  const std::size_t samples = std::min(item.record.samples - done, samples_at_most());
  std::string body = item.body;
  if (samples < item.record.samples) {
    auto part = exporter::slice_body(item.body, done, samples);
    if (!part) {
      // Its check is right, so that it was made wrong: nobody can send it.
      give_up(item, item.record.samples - done, "unreadable", "");
      return doors_.now_ns();
    }
    body = std::move(part->bytes);
  }
  auto request = make_request(std::move(body));
  if (!request) return wait_for(request.error().message);
  request->stop = stop;
  outgoing::HttpOutcome outcome = doors_.post(*request);
  outgoing::redact(outcome, *request);
  // The next run sends it again: it cannot know whether the receiver has it.
  if (outcome.status == 0 && stop.stop_requested()) return kNothingToSend;
  return judge(item, samples, outcome);
}

base::Result<outgoing::HttpRequest> Sender::make_request(std::string body) const {
  outgoing::HttpRequest request;
  request.url = outgoing::Secret(options_.url);
  request.body = std::move(body);
  request.content_type = "application/x-protobuf";
  request.headers = {"Content-Encoding: snappy", "X-Prometheus-Remote-Write-Version: 0.1.0",
                     fmt::format("User-Agent: everywatt/{}", kVersion)};
  if (!options_.tenant.empty()) {
    request.headers.push_back(fmt::format("X-Scope-OrgID: {}", options_.tenant));
  }
  request.username = options_.username;
  auto password = options_.password.read();
  if (!password) return std::unexpected(std::move(password.error()));
  request.password = *std::move(password);
  auto token = options_.token.read();
  if (!token) return std::unexpected(std::move(token.error()));
  request.bearer_token = *std::move(token);
  request.ca_file = options_.ca_file;
  request.cert_file = options_.cert_file;
  request.key_file = options_.key_file;
  request.tls_check = options_.tls_check;
  request.proxy = options_.proxy;
  return request;
}

std::int64_t Sender::judge(const Queue::Item& item, std::size_t samples,
                           const outgoing::HttpOutcome& outcome) {
  const int status = outcome.status;
  if (status >= 200 && status < 300) {
    accept(item, samples);
    return doors_.now_ns();
  }
  if (status == 0 || status == 429 || status >= 500) return retry(outcome);
  if (status == 413) return shrink(item, samples, describe(outcome));
  // Where an answer got lost the samples may be there, and older than the newest of their series:
  // then they are refused, and nothing is missing.
  const std::string reason = fmt::format("{}{}", status, is_repeated_ ? "_repeated" : "");
  give_up(item, samples, reason, describe(outcome));
  return doors_.now_ns();
}

void Sender::accept(const Queue::Item& item, std::size_t samples) {
  settle(item, samples);
  if (is_trouble_logged_) {
    base::log(base::LogLevel::kNotice,
              fmt::format("remote write {}: samples are taken again", options_.name));
  }
  is_trouble_logged_ = false;
  const std::lock_guard lock(mutex_);
  counts_.sent_samples += samples;
  counts_.last_success_unix = doors_.wall_ns() / kSecond;
  counts_.last_error.clear();
}

void Sender::give_up(const Queue::Item& item, std::size_t samples, const std::string& reason,
                     std::string_view words) {
  settle(item, samples);
  if (logged_reasons_.size() < kMostLoggedReasons && logged_reasons_.insert(reason).second) {
    base::log(base::LogLevel::kWarning,
              fmt::format("remote write {}: {} refuses samples, which are given up ({}); said once",
                          options_.name, outgoing::shown_address(options_.url), words));
  }
  const std::lock_guard lock(mutex_);
  const bool is_counted =
      counts_.failed_samples.size() < kMostReasons || counts_.failed_samples.contains(reason);
  counts_.failed_samples[is_counted ? reason : "other"] += samples;
  counts_.last_error = words;
}

std::int64_t Sender::shrink(const Queue::Item& item, std::size_t samples, std::string_view words) {
  if (samples == 1) {
    give_up(item, 1, "413", words);
    return doors_.now_ns();
  }
  const std::lock_guard lock(mutex_);
  samples_at_most_ = samples / 2;
  counts_.last_error = words;
  return doors_.now_ns();
}

std::int64_t Sender::retry(const outgoing::HttpOutcome& outcome) {
  // 429 says that it was not taken. Any other failure says nothing.
  is_repeated_ = is_repeated_ || outcome.status != 429;
  const unsigned doublings = std::min(failures_in_a_row_, 20u);
  ++failures_in_a_row_;
  const std::int64_t longest = std::min(kShortestWaitNs << doublings, kLongestWaitNs);
  // Many senders that a receiver's restart met are not to come back as one.
  const double share = 0.5 + doors_.random() / 2;
  auto wait_ns = static_cast<std::int64_t>(static_cast<double>(longest) * share);
  if (outcome.retry_after_s && (outcome.status == 429 || outcome.status == 503)) {
    wait_ns =
        std::max(wait_ns, std::clamp<std::int64_t>(*outcome.retry_after_s, 0, kLongestRetryAfterS) *
                              kSecond);
  }
  if (failures_in_a_row_ == kFailuresToLog && !is_trouble_logged_) {
    is_trouble_logged_ = true;
    base::log(base::LogLevel::kWarning,
              fmt::format("remote write {}: {} takes no samples now ({}); they wait in the queue",
                          options_.name, outgoing::shown_address(options_.url), describe(outcome)));
  }
  due_ns_ = doors_.now_ns() + wait_ns;
  const std::lock_guard lock(mutex_);
  ++counts_.retries;
  counts_.last_error = describe(outcome);
  return due_ns_;
}

std::int64_t Sender::wait_for(std::string_view cause) {
  due_ns_ = doors_.now_ns() + kTroubleWaitNs;
  const std::lock_guard lock(mutex_);
  if (counts_.last_error != cause) {
    base::log(base::LogLevel::kWarning,
              fmt::format("remote write {}: nothing is sent: {}", options_.name, cause));
  }
  is_trouble_logged_ = true;
  counts_.last_error = cause;
  return due_ns_;
}

void Sender::settle(const Queue::Item& item, std::size_t samples) {
  failures_in_a_row_ = 0;
  is_repeated_ = false;
  const std::lock_guard lock(queue_.mutex);
  queue_.queue->settle(item, item.from, item.from + samples);
}

}  // namespace everywatt::remote_write
