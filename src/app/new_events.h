// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "read/view/events.h"

namespace everywatt::app {

// An event of one ring may be published that much later than one of another that happened after it.
inline constexpr std::int64_t kLateEventNs = 2'000'000'000;

// Tells a follower the events that it has not been shown yet, each once.
class NewEvents {
 public:
  // `known` are those of the last kLateEventNs up to `since_ns`, shown or not asked for.
  NewEvents(std::int64_t since_ns, std::span<const view::Event> known);

  // What was published since the last time.
  std::vector<view::Event> take(const view::View& view);

  // From now on `view` is of another file, whose rows are numbered anew.
  void begin_file() { known_.clear(); }

 private:
  std::int64_t from_ns_;
  std::set<std::pair<std::uint32_t, std::uint64_t>> known_;
};

}  // namespace everywatt::app
