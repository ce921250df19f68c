// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "record/sampler/sampler.h"

namespace everywatt::sampler {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMs;
constexpr std::int64_t kMinute = 60 * kSecond;

struct Bound {
  const char* name;
  std::int64_t period_ns;
  std::int64_t low_ns;
  std::int64_t high_ns;
};

}  // namespace

base::Status check(const Options& options) {
  const Periods& p = options.periods;
  const std::array bounds = {
      // Gauges and counters refresh each 100 ms: faster reads are repeats, or worse.
      Bound{"gauge", p.gauge_ns, 100 * kMs, 10 * kSecond},
      Bound{"gpm", p.gpm_ns, 100 * kMs, kMinute},
      Bound{"gpm_fast", p.gpm_fast_ns, 100 * kMs, kMinute},
      // The driver keeps 2.4 s of power samples.
      Bound{"power_drain", p.power_drain_ns, 200 * kMs, 2 * kSecond},
      Bound{"process", p.process_ns, 200 * kMs, 10 * kMinute},
      Bound{"process_utilization", p.process_utilization_ns, 200 * kMs, 10 * kMinute},
      Bound{"slow", p.slow_ns, 200 * kMs, 10 * kMinute},
      Bound{"pcie", p.pcie_ns, 200 * kMs, 10 * kMinute},
      Bound{"mig", p.mig_ns, 200 * kMs, 10 * kMinute},
  };
  for (const Bound& bound : bounds) {
    if (bound.period_ns >= bound.low_ns && bound.period_ns <= bound.high_ns) continue;
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("the period of {} is {} ms, outside {} ms to {} ms", bound.name,
                                  bound.period_ns / kMs, bound.low_ns / kMs, bound.high_ns / kMs));
  }
  if (options.gpm_cpu_ratio < 0 || options.gpm_cpu_ratio > 1) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("the CPU allowance of GPM is {}, not a share of a core",
                                  options.gpm_cpu_ratio));
  }
  return {};
}

}  // namespace everywatt::sampler
