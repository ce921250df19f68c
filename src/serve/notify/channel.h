// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "serve/notify/bucket.h"
#include "serve/notify/delivery.h"
#include "serve/notify/notifier.h"
#include "serve/notify/spool.h"

namespace everywatt::notify {

// What a channel asks of the world, so that its tests need neither time nor luck.
struct Surroundings {
  base::Clock boottime_ns = base::boottime_ns;  // all waiting
  base::Clock wall_ns = base::walltime_ns;      // stamps, and the age of what a restart found
  std::function<double()> random;               // in [0, 1)
  std::unique_ptr<Door> door;
};

// One channel: its queue, which is its spool, and when it sends what of it.
//
// What waits is sent one by one, criticals first, while the budget lasts. Once the budget was used
// up, what waits is put together into a digest and sent as one notification, until the queue has
// been empty. Critical notifications do not share a digest with others. Who has failed before goes
// behind those that have not: a message that a channel cannot take does not hold up the rest.
class Channel {
 public:
  // Takes up what the spool found.
  Channel(ChannelOptions options, Spool spool, Surroundings surroundings);

  // On the disk when it returns. Any thread.
  base::Status accept(const Notification& notification);
  ChannelStatus status() const;

  // Sends at most one message. When to be called again, on the clock boottime_ns; nothing: when
  // there is something new. One thread at a time.
  std::optional<std::int64_t> step(std::stop_token stop);
  // Steps until `stop` asks for an end.
  void run(std::stop_token stop);

 private:
  struct Waiting {
    SpoolItem item;
    std::int64_t accepted_ns = 0;  // boottime; before the start of the machine where it is older
    unsigned failures = 0;
    PartPlace::Form form = PartPlace::Form::kWhole;
  };
  using Queue = std::map<std::uint64_t, Waiting>;  // by number
  using Lock = std::unique_lock<std::mutex>;

  // What follows needs the lock.
  void enqueue(const SpoolItem& item);
  void make_room();
  void expire(std::int64_t now_ns);
  // Numbers to send as one, or when there may be some.
  struct Choice {
    std::vector<std::uint64_t> numbers;
    std::optional<std::int64_t> wait_until_ns;
  };
  Choice choose(std::int64_t now_ns);
  std::vector<std::uint64_t> eligible(SpoolItem::Urgency urgency) const;
  Choice choose_among(std::vector<std::uint64_t> numbers, std::size_t most_single) const;
  std::int64_t quiet_until_ns(std::int64_t now_ns);
  std::uint64_t gather(const std::vector<std::uint64_t>& numbers);
  void apply(std::uint64_t number, const PartOutcome& outcome, std::int64_t now_ns);
  void apply_delivered(std::uint64_t number, std::size_t parts);
  void fail(std::uint64_t number, Reason reason, const std::string& said, const std::string& hint);
  void back_off(const Verdict& verdict, std::int64_t now_ns);
  void say(base::LogLevel level, const std::string& cause, const std::string& line);

  const ChannelOptions options_;
  const Surroundings surroundings_;
  const std::int64_t gap_ns_;
  const bool digests_;

  // The sender's thread alone.
  Delivery delivery_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_.
  Spool spool_;
  Queue queue_;
  std::size_t queued_bytes_ = 0;
  std::optional<std::uint64_t> sending_;
  Bucket bucket_;
  bool was_dry_ = false;  // the budget ran out since the queue was last empty
  bool is_merge_failing_ = false;
  std::int64_t not_before_ns_ = 0;
  std::int64_t quiet_until_ns_ = 0;  // what is not critical keeps away from a crowded minute
  std::int64_t quiet_half_hour_ = -1;
  unsigned failures_ = 0;  // in a row
  std::set<std::string> said_causes_;
  std::uint64_t accepted_ = 0;
  ChannelStatus status_;
};

}  // namespace everywatt::notify
