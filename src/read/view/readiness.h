// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "read/view/device.h"
#include "read/view/view.h"

namespace everywatt::view {

// One thing without fresh readings.
struct NotReady {
  std::uint32_t slot = 0;
  std::string what;           // "GPU 3", "the machine"
  std::int64_t since_ns = 0;  // the last good reading; 0: never
  std::string reason;         // "timed_out", "no gauge row for 4.2 s"
};

// What keeps this view from fresh readings of every GPU; empty: ready. A GPU that was let go of on
// request is not a fault; a file without any GPU is one line.
std::vector<NotReady> find_not_ready(const View& view);

}  // namespace everywatt::view
