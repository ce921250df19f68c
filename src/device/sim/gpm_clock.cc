// SPDX-License-Identifier: Apache-2.0
#include "device/sim/gpm_clock.h"

#include <algorithm>
#include <limits>

namespace everywatt::sim {
namespace {

// The time that stands for a generation which no refresh led to.
constexpr std::int64_t kFirstWindowNs = 100'000'000;

std::int64_t ns_of(const GpmRefresh& refresh) {
  return refresh.at_us * std::int64_t{1000};
}

}  // namespace

GpmClock::GpmClock(const GpuTrace& trace, const Loop& loop)
    : trace_(trace),
      loop_(loop),
      first_pass_(refreshes_until(loop.end_ns - 1)),
      before_loop_(refreshes_until(loop.begin_ns - 1)),
      per_lap_(first_pass_ - before_loop_) {}

std::int64_t GpmClock::refreshes_until(std::int64_t trace_ns) const {
  return std::partition_point(
             trace_.gpm.begin(), trace_.gpm.end(),
             [trace_ns](const GpmRefresh& refresh) { return ns_of(refresh) <= trace_ns; }) -
         trace_.gpm.begin();
}

std::int64_t GpmClock::generation(std::int64_t played_ns) const {
  const Position here = position(loop_, played_ns);
  const std::int64_t seen = refreshes_until(here.trace_ns);
  if (here.lap == 0) return seen;
  return first_pass_ + (here.lap - 1) * per_lap_ + (seen - before_loop_);
}

std::size_t GpmClock::refresh_of(std::int64_t generation) const {
  const std::int64_t index = generation - 1;
  if (index < first_pass_) return static_cast<std::size_t>(index);
  return static_cast<std::size_t>(before_loop_ + (index - first_pass_) % per_lap_);
}

std::int64_t GpmClock::time_of(std::int64_t generation) const {
  const std::int64_t trace_ns = ns_of(trace_.gpm[refresh_of(generation)]);
  const std::int64_t beyond = generation - 1 - first_pass_;
  return played_at(loop_, {trace_ns, beyond < 0 ? 0 : 1 + beyond / per_lap_});
}

void GpmClock::add_weighted(std::int64_t generation, GpmMeans& sums, double& weight) const {
  const std::int64_t window_ns =
      generation > 1 ? time_of(generation) - time_of(generation - 1) : kFirstWindowNs;
  const GpmRefresh& refresh = trace_.gpm[refresh_of(generation)];
  for (std::size_t i = 0; i < kGpmColumns; ++i) {
    sums[i] += gpm_value(refresh.means[i]) * static_cast<double>(window_ns);
  }
  weight += static_cast<double>(window_ns);
}

GpmMeans GpmClock::between(std::int64_t older, std::int64_t newer) const {
  GpmMeans means{};
  if (newer <= older) {
    means[kGpmDram] = std::numeric_limits<double>::quiet_NaN();
    return means;
  }
  if (newer == older + 1) {
    const GpmRefresh& refresh = trace_.gpm[refresh_of(newer)];
    for (std::size_t i = 0; i < kGpmColumns; ++i)
      means[i] = gpm_value(refresh.means[i]);
    return means;
  }
  // Whole laps beyond the newest one repeat it; leaving them out keeps a long window cheap.
  double weight = 0;
  const std::int64_t kept = std::min(newer - older, first_pass_ + per_lap_);
  for (std::int64_t generation = newer - kept + 1; generation <= newer; ++generation) {
    add_weighted(generation, means, weight);
  }
  for (double& mean : means)
    mean /= weight;
  return means;
}

}  // namespace everywatt::sim
