// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace everywatt::app {

// How long to wait before something that failed is tried again: at first not long, doubled each
// time, and short again after it has gone well for a while.
class Backoff {
 public:
  Backoff(std::int64_t first_ns, std::int64_t longest_ns, std::int64_t went_well_ns)
      : first_ns_(first_ns), longest_ns_(longest_ns), went_well_ns_(went_well_ns) {}

  // It failed after it had gone on for `lasted_ns`: the wait until the next try.
  std::int64_t next(std::int64_t lasted_ns) {
    if (lasted_ns >= went_well_ns_) wait_ns_ = 0;
    wait_ns_ = wait_ns_ == 0 ? first_ns_ : std::min(wait_ns_ * 2, longest_ns_);
    return wait_ns_;
  }

 private:
  std::int64_t first_ns_;
  std::int64_t longest_ns_;
  std::int64_t went_well_ns_;
  std::int64_t wait_ns_ = 0;
};

// Of a process of ours that ended. One that had lived for some seconds is started again at once,
// however often that happens: what it does is not to be missed for longer than a second.
inline Backoff backoff_of_part() {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {kSecond / 10, 10 * kSecond, 5 * kSecond};
}

}  // namespace everywatt::app
