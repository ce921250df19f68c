// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "read/view/view.h"

namespace everywatt::web {

inline constexpr std::int64_t kTickNs = 100'000'000;  // the cadence of the fastest lane: gauge

// What an answer depends on: equal ticks, and the answer need not be made again.
struct Tick {
  std::uint64_t generation = 0;   // of the file
  std::int64_t newest_gauge = 0;  // in which 100 ms the newest gauge row was read
  std::uint64_t events = 0;       // how many there were

  friend bool operator==(const Tick&, const Tick&) = default;
};

// Tells the tick of a view. Costs some ns a GPU.
class TickReader {
 public:
  Tick read(const view::View& view, std::uint64_t generation);

 private:
  std::uint64_t generation_ = 0;
  std::vector<std::uint32_t> gauge_rings_;
  std::vector<std::uint32_t> event_rings_;
};

}  // namespace everywatt::web
