// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace everywatt::sampler {

// The ticks of one lane, on an absolute grid of boottime: period * n + phase. Lanes whose periods
// divide each other tick together, so one wake-up serves them all. A tick that comes late is taken
// once; those that passed meanwhile are missed: never made up for, never bunched.
class Ticker {
 public:
  // The first tick is the first on the grid at or after `now_ns`. REQUIRES: period_ns > 0.
  Ticker(std::int64_t period_ns, std::int64_t phase_ns, std::int64_t now_ns);

  std::int64_t next_ns() const { return next_ns_; }
  std::int64_t period_ns() const { return period_ns_; }
  std::int64_t phase_ns() const { return phase_ns_; }
  bool is_due(std::int64_t now_ns) const { return now_ns >= next_ns_; }

  struct Tick {
    std::int64_t late_ns = 0;  // how long after its time on the grid it is taken
    std::uint64_t missed = 0;  // ticks of the grid that passed since
    bool is_late = false;      // by more than a tenth of the period
  };
  // Takes the due tick; the next one is the first on the grid after `now_ns`. REQUIRES: is_due().
  Tick take(std::int64_t now_ns);

  // Another period from now on. The next tick is the first on the new grid after `now_ns`.
  void set_period(std::int64_t period_ns, std::int64_t now_ns);
  // An extra tick that is due now; the grid stays.
  void hurry(std::int64_t now_ns) { next_ns_ = next_ns_ < now_ns ? next_ns_ : now_ns; }

 private:
  std::int64_t first_at_or_after(std::int64_t now_ns) const;

  std::int64_t period_ns_;
  std::int64_t phase_ns_;
  std::int64_t next_ns_;
};

}  // namespace everywatt::sampler
