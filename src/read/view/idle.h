// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "read/view/device.h"
#include "read/view/view.h"

namespace everywatt::view {

struct IdleOptions {
  // Memory that may be in use without a process: the driver's own, another container's leftovers.
  std::uint64_t used_below_bytes = std::uint64_t{1} << 30;
  // Free memory that is asked for; 0: any.
  std::uint64_t free_at_least_bytes = 0;
  double utilization_below_ratio = 0.05;
  std::int64_t window_ns = 10'000'000'000;
};

// GPUs and MIG instances that nobody uses: no process, little memory used, and no utilization above
// the limit in the window. One whose readings are absent is not called idle, unless its kind has no
// such reading. The instances of a GPU in MIG mode stand for it.
std::vector<Device> find_idle(const View& view, const IdleOptions& options = {});

}  // namespace everywatt::view
