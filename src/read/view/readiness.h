// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "read/view/device.h"
#include "read/view/view.h"

namespace everywatt::view {

// One thing without fresh readings.
struct NotReady {
  std::uint32_t slot = 0;
  std::string what;  // "GPU 3", "machine"
  std::int64_t since_ns =
      0;               // when its last good reading was taken; 0: never, or too long ago to say
  std::string reason;  // "timed_out", "no gauge reading for 4.2 s"
};

// What keeps this view from fresh readings of every GPU and of the machine; empty: ready. A GPU
// that was let go of on request is not a fault; a file without any GPU is.
std::vector<NotReady> find_not_ready(const View& view);

// When the newest row of the lane that holds a good reading was read; 0: none within reach.
std::int64_t last_good_ns(const View& view, std::uint32_t slot, catalog::Lane lane);

// The same, asked again and again of one file: remembers how far it has looked, so that a lane that
// never holds a good reading (GPM on a GPU without it) is not searched each time. One thread.
class LastGood {
 public:
  std::int64_t time_ns(const View& view, std::uint32_t slot, catalog::Lane lane);

 private:
  struct Seen {
    std::uint64_t end = 0;  // rows before it were looked at
    std::int64_t time_ns = 0;
  };
  std::map<std::uint32_t, Seen> seen_;  // by ring
};

}  // namespace everywatt::view
