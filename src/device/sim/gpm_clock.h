// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "device/sim/gpu_trace.h"
#include "device/sim/loop.h"

namespace everywatt::sim {

// The means of the GPM columns over a window, in the columns' order.
using GpmMeans = std::array<double, kGpmColumns>;

// When the GPM counters of a looped trace move, and what they show. The refreshes are numbered
// through all laps; generation n is the state of the counters after n refreshes. Two samples of one
// generation are the trap that every fast poller falls into: 0 for each percentage, NaN for DRAM.
// Refers to the trace and the loop, which must outlive it. Immutable.
class GpmClock {
 public:
  GpmClock(const GpuTrace& trace, const Loop& loop);

  std::int64_t generation(std::int64_t played_ns) const;
  std::int64_t time_of(std::int64_t generation) const;  // played; of the refresh that led to it

  // What the driver computes from samples of these two generations: between adjacent ones exactly
  // what was recorded, else the mean of the refreshes between them, each weighted with the time
  // since the one before. A later generation first is like no movement.
  GpmMeans between(std::int64_t older, std::int64_t newer) const;

 private:
  std::size_t refresh_of(std::int64_t generation) const;
  void add_weighted(std::int64_t generation, GpmMeans& sums, double& weight) const;
  std::int64_t refreshes_until(std::int64_t trace_ns) const;

  const GpuTrace& trace_;
  const Loop& loop_;
  std::int64_t first_pass_;   // refreshes before the loop's end
  std::int64_t before_loop_;  // refreshes before the loop's begin
  std::int64_t per_lap_;
};

}  // namespace everywatt::sim
