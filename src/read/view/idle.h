// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "read/view/device.h"
#include "read/view/view.h"

namespace everywatt::view {

struct IdleOptions {
  std::uint64_t memory_below_bytes = std::uint64_t{1} << 30;  // used by nobody that is listed
  double utilization_below_ratio = 0.05;
  std::int64_t window_ns = 10'000'000'000;
};

// GPUs and MIG instances that nobody uses: no process, little memory used, and no utilization above
// the limit in the window. One whose readings are absent is not called idle. MIG instances stand
// for their GPU.
std::vector<Device> find_idle(const View& view, const IdleOptions& options = {});

}  // namespace everywatt::view
