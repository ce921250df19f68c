// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/ticker.h"

#include "base/check.h"

namespace everywatt::sampler {

Ticker::Ticker(std::int64_t period_ns, std::int64_t phase_ns, std::int64_t now_ns)
    : period_ns_(period_ns), phase_ns_(phase_ns), next_ns_(0) {
  CHECK(period_ns > 0);
  phase_ns_ %= period_ns;
  next_ns_ = first_at_or_after(now_ns);
}

std::int64_t Ticker::first_at_or_after(std::int64_t now_ns) const {
  const std::int64_t since_phase = now_ns - phase_ns_;
  std::int64_t steps = since_phase / period_ns_;
  if (since_phase > steps * period_ns_) ++steps;
  return steps * period_ns_ + phase_ns_;
}

Ticker::Tick Ticker::take(std::int64_t now_ns) {
  CHECK(is_due(now_ns));
  Tick tick;
  tick.late_ns = now_ns - next_ns_;
  // A tenth of the period: less is what any kernel's timers do.
  tick.is_late = tick.late_ns > period_ns_ / 10;
  tick.missed = static_cast<std::uint64_t>(tick.late_ns / period_ns_);
  next_ns_ = first_at_or_after(now_ns + 1);
  return tick;
}

void Ticker::set_period(std::int64_t period_ns, std::int64_t now_ns) {
  CHECK(period_ns > 0);
  if (period_ns == period_ns_) return;
  period_ns_ = period_ns;
  phase_ns_ %= period_ns;
  next_ns_ = first_at_or_after(now_ns + 1);
}

}  // namespace everywatt::sampler
