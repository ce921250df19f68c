// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/accumulate.h"

#include <utility>

namespace everywatt::sampler {
namespace {

// A board with its limit unknown: more than any has.
constexpr double kAnyBoardWatts = 3000;
// The counter is refreshed each 0.1 s, so two readings may stand for that much more time than lies
// between them.
constexpr double kRefreshSeconds = 0.2;

bool is_plausible(double joules, std::int64_t from_ns, std::int64_t to_ns, double power_max_watts) {
  const double watts = power_max_watts > 0 ? power_max_watts : kAnyBoardWatts;
  return joules <= watts * (static_cast<double>(to_ns - from_ns) / 1e9 + kRefreshSeconds);
}

template <typename T>
T grow(std::optional<T>& base, bool& has_fallen, T now) {
  if (!base) {
    base = now;
    return {};
  }
  const bool is_fallen = now < *base;
  if (is_fallen && !std::exchange(has_fallen, true)) return {};
  has_fallen = false;
  const T before = std::exchange(*base, now);
  return is_fallen ? now : now - before;
}

}  // namespace

std::uint64_t CountGrowth::see(std::uint64_t count) {
  return grow(base_, has_fallen_, count);
}

double SumGrowth::see(double sum) {
  return grow(base_, has_fallen_, sum);
}

EnergyGrowth::Step EnergyGrowth::see(double joules, std::int64_t time_ns, double power_max_watts) {
  const Reading now{joules, time_ns};
  if (!base_) {
    base_ = now;
    return {};
  }
  // After a restart of the counter all that it shows came since.
  const double grown = joules >= base_->joules ? joules - base_->joules : joules;
  if (is_plausible(grown, base_->time_ns, time_ns, power_max_watts)) {
    base_ = now;
    rejected_.reset();
    return {.joules = grown};
  }
  // Going on from a rejected reading as energy does: then that was the new origin. What lies
  // between is not known.
  if (rejected_ && joules >= rejected_->joules &&
      is_plausible(joules - rejected_->joules, rejected_->time_ns, time_ns, power_max_watts)) {
    const double since = joules - rejected_->joules;
    base_ = now;
    rejected_.reset();
    return {.joules = since};
  }
  rejected_ = now;
  return {.is_rejected = true};
}

double PowerIntegral::see(double watts, std::int64_t time_ns, std::int64_t longest_hold_ns) {
  const std::int64_t held_ns = time_ns - time_ns_;
  const bool is_held = time_ns_ != 0 && held_ns > 0 && held_ns <= longest_hold_ns;
  const double joules = is_held ? watts_ * static_cast<double>(held_ns) / 1e9 : 0;
  if (held_ns > 0) {
    watts_ = watts;
    time_ns_ = time_ns;
  }
  return joules;
}

}  // namespace everywatt::sampler
