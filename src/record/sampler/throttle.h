// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace everywatt::sampler {

// Clock event reasons that are worth an event: the hardware or heat holds the clocks down. A power
// cap is not: it is how a busy GPU runs.
inline constexpr std::array<std::uint64_t, 4> kThrottleBits = {
    0x8,   // hardware slowdown
    0x20,  // software thermal slowdown
    0x40,  // hardware thermal slowdown
    0x80,  // hardware power brake
};

// Turns the mask of clock event reasons into starts and ends. A reason that is cleared for less
// than a second has not ended: some come and go at each tick. Pure.
class ThrottleWatch {
 public:
  struct Change {
    std::uint64_t bit = 0;
    bool is_start = false;
    std::int64_t time_ns = 0;  // of the reading that first showed it
  };
  std::vector<Change> see(std::uint64_t mask, std::int64_t time_ns);

 private:
  struct Reason {
    bool is_on = false;
    std::int64_t cleared_ns = 0;  // 0: set
  };
  std::array<Reason, kThrottleBits.size()> reasons_{};
};

}  // namespace everywatt::sampler
