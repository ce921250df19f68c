// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/tally.h"

#include <algorithm>
#include <limits>

namespace everywatt::sampler {
namespace {

// One writer: a load and a store do, and cost less than an atomic addition.
void add(std::atomic<std::uint64_t>& sum, std::uint64_t more) {
  sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

void Tally::count_tick(catalog::Lane lane, const Ticker::Tick& tick) {
  LaneSums& sums = this->lane(lane);
  add(sums.ticks, 1);
  add(sums.late, tick.is_late ? 1 : 0);
  add(sums.missed, tick.missed);
  const auto late_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(tick.late_ns, 0));
  if (late_ns > sums.late_max_ns.load(std::memory_order_relaxed)) {
    sums.late_max_ns.store(late_ns, std::memory_order_relaxed);
  }
  if (lane != catalog::Lane::kGauge) return;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  lateness_us_[lateness_next_].store(static_cast<std::uint32_t>(std::min(late_ns / 1000, kMost)),
                                     std::memory_order_relaxed);
  lateness_next_ = (lateness_next_ + 1) % kLatenessKept;
}

void Tally::count_cpu(catalog::Lane lane, std::int64_t cpu_ns) {
  add(this->lane(lane).cpu_ns, static_cast<std::uint64_t>(std::max<std::int64_t>(cpu_ns, 0)));
}

void Tally::count_readings(std::uint64_t readings) {
  add(readings_, readings);
}

}  // namespace everywatt::sampler
