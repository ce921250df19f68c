// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace everywatt::sampler {

// When the performance counters of one GPU are worth their fast pace: for the first ten minutes of
// each process from the moment that the GPU has been above 5 % for ten seconds, for one minute in
// each ten after that, and while somebody holds a lease. Pure; one thread, except lease().
class GpmPolicy {
 public:
  void see_utilization(double ratio, std::int64_t now_ns);
  // The processes on the GPU now.
  void see_processes(std::span<const std::uint32_t> pids);
  // Any thread. Until then (boottime); a later time wins.
  void lease(std::int64_t until_ns);
  std::int64_t leased_until_ns() const { return leased_until_ns_.load(std::memory_order_relaxed); }

  bool wants_fast(std::int64_t now_ns);

 private:
  struct Known {
    std::uint32_t pid = 0;
    std::int64_t since_ns = 0;  // when it had kept the GPU busy long enough; 0: not yet
  };

  std::vector<Known> processes_;
  std::int64_t busy_since_ns_ = 0;  // 0: not busy
  std::atomic<std::int64_t> leased_until_ns_{0};
};

// The CPU time that fast performance counters may cost all GPUs of a node together. Unspent time is
// saved for a minute, so that bursts are judged by their average. Any thread.
class CpuAllowance {
 public:
  // `ratio` of one core. Starts with a minute saved.
  CpuAllowance(double ratio, std::int64_t now_ns);

  void spend(std::int64_t cpu_ns);
  // False: the allowance is used up.
  bool has_room(std::int64_t now_ns);
  // Share of the allowance that was spent since the last question.
  double take_used_ratio(std::int64_t now_ns);

 private:
  const double ratio_;
  std::mutex mutex_;
  double room_ns_;
  std::int64_t earned_until_ns_;
  std::int64_t asked_ns_;
  std::int64_t spent_since_asked_ns_ = 0;
};

}  // namespace everywatt::sampler
