// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "serve/notify/channel_traits.h"
#include "serve/notify/payload.h"

namespace everywatt::notify {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kDay_ns = 86'400 * kSecond_ns;

constexpr std::size_t kQueueLimit = 1000;
constexpr std::size_t kQueueLimitBytes = 256u << 20;

// So many criticals go out on their own even in a storm: they are the ones to be read.
constexpr std::size_t kSingleCriticals = 3;

// An answer that holds a time or a number is a new cause each time.
constexpr std::size_t kCausesLimit = 20;

constexpr std::int64_t kFirstBackoff_ns = 2 * kSecond_ns;
constexpr std::int64_t kLongestBackoff_ns = 300 * kSecond_ns;

std::int64_t scaled(double factor, std::int64_t span_ns) {
  return static_cast<std::int64_t>(factor * static_cast<double>(span_ns));
}

// What is not there or no notification will never be one; a disk that fails may come to itself.
Verdict judge_unreadable(const base::Error& error) {
  const bool is_lost = error.code == base::Code::kCorrupt || error.code == base::Code::kNotFound;
  return {.kind = is_lost ? VerdictKind::kRefused : VerdictKind::kRetry, .said = error.message};
}

}  // namespace

Channel::Channel(ChannelOptions options, Spool spool, Surroundings surroundings)
    : options_(std::move(options)),
      surroundings_(std::move(surroundings)),
      gap_ns_(traits_of(options_.type).gap_ns),
      // A program that reads Alertmanager's JSON knows groups, and nothing of digests.
      digests_(options_.type != ChannelType::kWebhook || !options_.template_file.empty()),
      delivery_(options_, *surroundings_.door, surroundings_.wall_ns),
      spool_(std::move(spool)),
      bucket_(options_.per_minute.value_or(traits_of(options_.type).per_minute),
              traits_of(options_.type).burst, surroundings_.boottime_ns()) {
  status_.name = options_.name;
  status_.type = type_name(options_.type);
  for (const Reason reason : all_reasons())
    status_.failed_total[std::string(reason_name(reason))];
  for (const SpoolItem& item : spool_.found())
    enqueue(item);
  // The process before may have used up its budget just now; who is started again and again would
  // spend one each time.
  if (!queue_.empty()) bucket_.empty();
}

base::Status Channel::accept(const Notification& notification) {
  const Lock lock(mutex_);
  const auto item = spool_.add(notification, surroundings_.wall_ns());
  if (!item) return std::unexpected(item.error());
  enqueue(*item);
  ++accepted_;
  make_room();
  changed_.notify_one();
  return {};
}

ChannelStatus Channel::status() const {
  const Lock lock(mutex_);
  ChannelStatus status = status_;
  status.queued = queue_.size();
  return status;
}

void Channel::enqueue(const SpoolItem& item) {
  const std::int64_t age_ns =
      std::max<std::int64_t>(0, surroundings_.wall_ns() - item.accepted_wall_ns);
  queue_[item.number] = {.item = item, .accepted_ns = surroundings_.boottime_ns() - age_ns};
  queued_bytes_ += item.bytes;
}

void Channel::make_room() {
  while (queue_.size() > kQueueLimit || (queued_bytes_ > kQueueLimitBytes && queue_.size() > 1)) {
    const auto is_droppable = [&](SpoolItem::Urgency most, const auto& each) {
      return each.first != sending_ && each.second.item.urgency <= most;
    };
    auto victim = std::ranges::find_if(
        queue_, [&](const auto& each) { return is_droppable(SpoolItem::Urgency::kNormal, each); });
    if (victim == queue_.end()) {
      victim = std::ranges::find_if(queue_, [&](const auto& each) {
        return is_droppable(SpoolItem::Urgency::kCritical, each);
      });
    }
    if (victim == queue_.end()) return;
    say(base::LogLevel::kWarning, "full",
        "its spool is full: the oldest notifications are dropped");
    ++status_.dropped_total;
    queued_bytes_ -= victim->second.item.bytes;
    if (auto removed = spool_.remove(victim->second.item); !removed) {
      say(base::LogLevel::kError, removed.error().message, removed.error().message);
    }
    queue_.erase(victim);
  }
}

void Channel::expire(std::int64_t now_ns) {
  std::vector<std::uint64_t> old;
  for (const auto& [number, waiting] : queue_) {
    if (now_ns - waiting.accepted_ns >= kDay_ns) old.push_back(number);
  }
  for (const std::uint64_t number : old) {
    fail(number, Reason::kExpired, "it could not be delivered for 24 hours", "");
  }
}

std::vector<std::uint64_t> Channel::eligible(SpoolItem::Urgency urgency) const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, waiting] : queue_) {
    if (waiting.item.urgency == urgency) numbers.push_back(number);
  }
  std::ranges::stable_sort(numbers, {}, [&](std::uint64_t n) { return queue_.at(n).failures; });
  return numbers;
}

Channel::Choice Channel::choose_among(std::vector<std::uint64_t> numbers,
                                      std::size_t most_single) const {
  if (!was_dry_ || !digests_ || numbers.size() <= most_single) return {{numbers.front()}, {}};
  Choice choice;
  std::size_t alerts = 0;
  for (const std::uint64_t number : numbers) {
    const SpoolItem& item = queue_.at(number).item;
    if (item.parts_done > 0) continue;
    alerts += item.alerts;
    if (alerts > kAlertsLimit) break;
    choice.numbers.push_back(number);
  }
  if (choice.numbers.size() < 2) choice.numbers = {numbers.front()};
  return choice;
}

// Feishu asks to be spared the full and the half hour, when everybody's reports come.
std::int64_t Channel::quiet_until_ns(std::int64_t now_ns) {
  if (options_.type != ChannelType::kFeishu) return now_ns;
  constexpr std::int64_t kHalfHour_ns = 1800 * kSecond_ns;
  constexpr std::int64_t kCrowded_ns = 20 * kSecond_ns;
  const std::int64_t wall_ns = surroundings_.wall_ns();
  const std::int64_t half_hour = wall_ns / kHalfHour_ns;
  const std::int64_t into_ns = wall_ns % kHalfHour_ns;
  if (into_ns < kCrowded_ns && half_hour != quiet_half_hour_) {
    quiet_half_hour_ = half_hour;
    quiet_until_ns_ = now_ns + kCrowded_ns - into_ns + scaled(surroundings_.random(), kCrowded_ns);
  }
  return quiet_until_ns_;
}

Channel::Choice Channel::choose(std::int64_t now_ns) {
  if (now_ns < not_before_ns_) return {{}, not_before_ns_};
  bucket_.refill(now_ns);
  // Once begun, a notification is finished: its messages belong together.
  const auto begun = std::ranges::find_if(queue_, [](const auto& each) {
    return each.second.item.parts_done > 0 && each.second.failures == 0;
  });
  const auto criticals = eligible(SpoolItem::Urgency::kCritical);
  const auto normals = eligible(SpoolItem::Urgency::kNormal);
  const bool is_calm = begun == queue_.end() && criticals.empty();
  // One token is kept for a critical one that may come.
  const double needed = is_calm ? std::min(2.0, bucket_.burst()) : 1;
  if (!bucket_.has(needed)) {
    was_dry_ = true;
    return {{}, bucket_.when(needed)};
  }
  if (begun != queue_.end()) return {{begun->first}, {}};
  if (!criticals.empty()) return choose_among(criticals, kSingleCriticals);
  if (const std::int64_t quiet_ns = quiet_until_ns(now_ns); now_ns < quiet_ns) {
    return {{}, quiet_ns};
  }
  return choose_among(normals, 1);
}

// Several become one file, which takes their place in the queue. Where that cannot be done the
// first of them goes alone: neither a full disk nor one file that cannot be read holds up the
// others.
std::uint64_t Channel::gather(const std::vector<std::uint64_t>& numbers) {
  if (numbers.size() == 1) return numbers.front();
  std::vector<SpoolItem> items;
  for (const std::uint64_t number : numbers)
    items.push_back(queue_.at(number).item);
  const auto merged = spool_.merge(items);
  if (!merged) {
    // Not by say(): what is delivered in between is no end of this.
    if (!std::exchange(is_merge_failing_, true)) {
      base::log(base::LogLevel::kError, fmt::format("notify.{}: no digest can be made: {}",
                                                    options_.name, merged.error().message));
    }
    return numbers.front();
  }
  is_merge_failing_ = false;
  for (const SpoolItem& item : items) {
    queued_bytes_ -= item.bytes;
    queue_.erase(item.number);
  }
  enqueue(*merged);
  ++status_.digests_total;
  return merged->number;
}

std::optional<std::int64_t> Channel::step(std::stop_token stop) {
  Lock lock(mutex_);
  std::int64_t now_ns = surroundings_.boottime_ns();
  expire(now_ns);
  if (queue_.empty()) {
    was_dry_ = false;
    return std::nullopt;
  }
  const Choice choice = choose(now_ns);
  if (choice.numbers.empty()) return choice.wait_until_ns;
  const std::uint64_t number = gather(choice.numbers);
  sending_ = number;
  const Waiting waiting = queue_.at(number);
  bucket_.take();
  const PartPlace place{.index = waiting.item.parts_done,
                        .unique = fmt::format("{}", waiting.item.accepted_wall_ns),
                        .wall_ns = waiting.item.accepted_wall_ns,
                        .form = waiting.form};
  const auto notification = spool_.read(waiting.item);
  PartOutcome outcome;
  if (notification) {
    lock.unlock();
    outcome = delivery_.send_part(*notification, place, stop);
    lock.lock();
  } else {
    outcome.verdict = judge_unreadable(notification.error());
  }
  sending_.reset();
  now_ns = surroundings_.boottime_ns();
  not_before_ns_ = now_ns + gap_ns_;
  // Cut off by the end of the program: no failure of the channel's.
  if (stop.stop_requested() && outcome.verdict.kind == VerdictKind::kRetry) return now_ns;
  apply(number, outcome, now_ns);
  return not_before_ns_;
}

void Channel::apply(std::uint64_t number, const PartOutcome& outcome, std::int64_t now_ns) {
  const Verdict& verdict = outcome.verdict;
  Waiting& waiting = queue_.at(number);
  switch (verdict.kind) {
    case VerdictKind::kDelivered:
      return apply_delivered(number, outcome.parts);
    case VerdictKind::kTryPlain:
      if (waiting.form == PartPlace::Form::kPlain) {
        return fail(number, Reason::kRequest, verdict.said, verdict.hint);
      }
      waiting.form = PartPlace::Form::kPlain;
      return;
    case VerdictKind::kRefused:
      return fail(number, verdict.reason, verdict.said, verdict.hint);
    case VerdictKind::kHold:
      say(base::LogLevel::kError, verdict.said, "cannot send: " + verdict.said);
      not_before_ns_ = now_ns + verdict.wait_ns;
      return;
    case VerdictKind::kRetry:
      ++waiting.failures;
      ++status_.retried_total;
      say(base::LogLevel::kWarning, verdict.said,
          fmt::format("not delivered, tried again later: {}{}{}", verdict.said,
                      verdict.hint.empty() ? "" : "; ", verdict.hint));
      return back_off(verdict, now_ns);
  }
}

void Channel::apply_delivered(std::uint64_t number, std::size_t parts) {
  Waiting& waiting = queue_.at(number);
  if (waiting.item.parts_done < parts) {
    ++waiting.item.parts_done;
    ++status_.sent_total;
  }
  waiting.form = PartPlace::Form::kWhole;
  failures_ = 0;
  status_.last_success_unix = surroundings_.wall_ns() / kSecond_ns;
  if (!said_causes_.empty()) {
    base::log(base::LogLevel::kNotice, fmt::format("notify.{} delivers again", options_.name));
    said_causes_.clear();
  }
  const bool is_done = waiting.item.parts_done >= parts;
  const auto kept = is_done ? spool_.remove(waiting.item) : spool_.update(waiting.item);
  if (!kept) say(base::LogLevel::kError, kept.error().message, kept.error().message);
  if (is_done) {
    queued_bytes_ -= waiting.item.bytes;
    queue_.erase(number);
  }
}

void Channel::fail(std::uint64_t number, Reason reason, const std::string& said,
                   const std::string& hint) {
  const auto found = queue_.find(number);
  CHECK(found != queue_.end());
  ++status_.failed_total[std::string(reason_name(reason))];
  say(base::LogLevel::kError, said,
      fmt::format("a notification is given up, {}: {}{}{}", reason_name(reason), said,
                  hint.empty() ? "" : "; ", hint));
  if (auto kept = spool_.set_aside(found->second.item); !kept) {
    say(base::LogLevel::kError, kept.error().message, kept.error().message);
  }
  queued_bytes_ -= found->second.item.bytes;
  queue_.erase(found);
}

void Channel::back_off(const Verdict& verdict, std::int64_t now_ns) {
  failures_ = std::min(failures_ + 1, 16u);
  std::int64_t wait_ns = 0;
  if (verdict.wait_ns > 0) {
    // Not earlier than it was told, and not all robots of a company in the same instant.
    wait_ns = verdict.wait_ns + scaled(surroundings_.random(), kSecond_ns);
    bucket_.empty();
  } else {
    const std::int64_t longest_ns =
        std::min(kLongestBackoff_ns, kFirstBackoff_ns << (failures_ - 1));
    wait_ns = scaled(0.5 + surroundings_.random() / 2, longest_ns);
  }
  not_before_ns_ = std::max(not_before_ns_, now_ns + wait_ns);
}

// Once a cause until something is delivered: the same again adds nothing, and a log that fills
// hides the rest.
void Channel::say(base::LogLevel level, const std::string& cause, const std::string& line) {
  if (said_causes_.size() >= kCausesLimit || !said_causes_.insert(cause).second) return;
  base::log(level, fmt::format("notify.{}: {}", options_.name, line));
}

void Channel::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    Lock lock(mutex_);
    // What comes while a message is under way is looked at before any waiting.
    const std::uint64_t accepted = accepted_;
    const auto is_new = [&] { return accepted_ != accepted; };
    lock.unlock();
    const auto next_ns = step(stop);
    lock.lock();
    if (!next_ns) {
      changed_.wait(lock, stop, is_new);
      continue;
    }
    const std::int64_t wait_ns = *next_ns - surroundings_.boottime_ns();
    if (wait_ns > 0) changed_.wait_for(lock, stop, std::chrono::nanoseconds(wait_ns), is_new);
  }
}

}  // namespace everywatt::notify
