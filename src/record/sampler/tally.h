// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "catalog/metric.h"
#include "device/nvml/call.h"
#include "record/sampler/ticker.h"

namespace everywatt::sampler {

// How one thread of the sampler keeps up. Written by that thread, read by the one that writes the
// sampling row. Sums since the start of the process.
class Tally {
 public:
  // Ticks of the gauge lane whose lateness is remembered: a minute.
  static constexpr std::size_t kLatenessKept = 600;

  void count_tick(catalog::Lane lane, const Ticker::Tick& tick);
  void count_cpu(catalog::Lane lane, std::int64_t cpu_ns);
  void count_readings(std::uint64_t readings);

  struct LaneSums {
    std::atomic<std::uint64_t> ticks{0};
    std::atomic<std::uint64_t> late{0};
    std::atomic<std::uint64_t> missed{0};
    std::atomic<std::uint64_t> cpu_ns{0};
    std::atomic<std::uint64_t> late_max_ns{0};  // set to 0 by who reads it
  };
  LaneSums& lane(catalog::Lane lane) { return lanes_[static_cast<unsigned>(lane)]; }
  std::uint64_t readings() const { return readings_.load(std::memory_order_relaxed); }
  nvml::CallTally& calls() { return calls_; }
  // The lateness of the newest gauge ticks, in microseconds, in no order; 0 where there was none.
  const std::array<std::atomic<std::uint32_t>, kLatenessKept>& lateness_us() const {
    return lateness_us_;
  }

 private:
  std::array<LaneSums, catalog::kLaneCount> lanes_{};
  std::array<std::atomic<std::uint32_t>, kLatenessKept> lateness_us_{};
  std::size_t lateness_next_ = 0;
  std::atomic<std::uint64_t> readings_{0};
  nvml::CallTally calls_;
};

}  // namespace everywatt::sampler
