// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "serve/outgoing/http_client.h"
#include "serve/remote_write/options.h"
#include "serve/remote_write/queue.h"

namespace everywatt::remote_write {

// A queue that one thread fills and another empties.
struct SharedQueue {
  std::mutex mutex;
  std::unique_ptr<Queue> queue;  // guarded by mutex
};

// The world as a sender sees it.
struct SenderDoors {
  std::function<outgoing::HttpOutcome(const outgoing::HttpRequest&)> post;
  base::Clock now_ns = base::boottime_ns;
  base::Clock wall_ns = base::walltime_ns;
  std::function<double()> random;  // in [0, 1)
};

struct SenderCounts {
  std::uint64_t sent_samples = 0;
  std::map<std::string, std::uint64_t> failed_samples;  // by reason; at most 33
  std::uint64_t retries = 0;
  std::int64_t last_success_unix = 0;
  std::string last_error;
};

// Sends what is in a queue to its receiver, one request after another. What the receiver refuses
// for good is given up and counted; what it cannot take now is sent again until it does.
class Sender {
 public:
  static constexpr std::int64_t kNothingToSend = std::numeric_limits<std::int64_t>::max();

  // Both must outlive this.
  Sender(const Options& options, SharedQueue& queue, SenderDoors doors);

  // Sends at most one request, if one is due. When to call it next (boottime); kNothingToSend: when
  // something was put into the queue.
  std::int64_t step(const std::stop_token& stop);

  // The largest request that the receiver is known to take, in samples. Any thread.
  std::size_t samples_at_most() const;
  SenderCounts counts() const;  // any thread

 private:
  std::int64_t send(const Queue::Item& item, const std::stop_token& stop);
  base::Result<outgoing::HttpRequest> make_request(std::string body) const;
  std::int64_t judge(const Queue::Item& item, std::size_t samples,
                     const outgoing::HttpOutcome& outcome);
  void accept(const Queue::Item& item, std::size_t samples);
  void give_up(const Queue::Item& item, std::size_t samples, const std::string& reason,
               std::string_view words);
  std::int64_t shrink(const Queue::Item& item, std::size_t samples, std::string_view words);
  std::int64_t retry(const outgoing::HttpOutcome& outcome);
  std::int64_t wait_for(std::string_view cause);
  void settle(const Queue::Item& item, std::size_t samples);

  const Options& options_;
  SharedQueue& queue_;
  SenderDoors doors_;

  // Of the thread that sends.
  std::int64_t due_ns_ = 0;
  unsigned failures_in_a_row_ = 0;
  bool is_trouble_logged_ = false;
  bool is_repeated_ = false;  // of the request's attempts one ended without a word on it
  std::set<std::string> logged_reasons_;

  mutable std::mutex mutex_;
  SenderCounts counts_;                 // guarded by mutex_
  std::size_t samples_at_most_ = 2000;  // guarded by mutex_; as Prometheus sends them
};

}  // namespace everywatt::remote_write
