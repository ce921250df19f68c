// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/throttle.h"

namespace everywatt::sampler {
namespace {

constexpr std::int64_t kQuietNs = 1'000'000'000;

}  // namespace

std::vector<ThrottleWatch::Change> ThrottleWatch::see(std::uint64_t mask, std::int64_t time_ns) {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < kThrottleBits.size(); ++i) {
    Reason& reason = reasons_[i];
    if ((mask & kThrottleBits[i]) != 0) {
      reason.cleared_ns = 0;
      if (reason.is_on) continue;
      reason.is_on = true;
      changes.push_back({.bit = kThrottleBits[i], .is_start = true, .time_ns = time_ns});
      continue;
    }
    if (!reason.is_on) continue;
    if (reason.cleared_ns == 0) reason.cleared_ns = time_ns;
    if (time_ns - reason.cleared_ns < kQuietNs) continue;
    reason.is_on = false;
    changes.push_back({.bit = kThrottleBits[i], .is_start = false, .time_ns = reason.cleared_ns});
  }
  return changes;
}

}  // namespace everywatt::sampler
