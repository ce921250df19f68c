// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/wall_clock.h"

#include <bit>
#include <cstdlib>

#include <fmt/format.h>

namespace everywatt::hostwatch {
namespace {

// A time service steers a clock by at most 0.05 % and sets it when it is off by more than 0.1-1 s.
constexpr std::int64_t kStepNs = 500'000'000;

}  // namespace

void WallClock::tick(std::int64_t now_ns, std::int64_t wall_ns) {
  const std::int64_t offset_ns = wall_ns - now_ns;
  recorder::Word& word = recorder_.header().wall_offset_ns;
  const auto last_ns = std::bit_cast<std::int64_t>(word.load(std::memory_order_acquire));
  const std::int64_t step_ns = offset_ns - last_ns;
  word.store(std::bit_cast<std::uint64_t>(offset_ns), std::memory_order_release);
  identities_.header().wall_offset_ns.store(std::bit_cast<std::uint64_t>(offset_ns),
                                            std::memory_order_release);
  if (last_ns == 0 || std::abs(step_ns) <= kStepNs) return;
  const std::int64_t step_ms = step_ns / 1'000'000;
  events_.write({.kind = catalog::EventKind::kClockStep,
                 .code = std::bit_cast<std::uint64_t>(step_ms),
                 .device = {},
                 .pid = {},
                 .identity = {},
                 .wall_ns = wall_ns,
                 .text = fmt::format("the wall clock jumped by {:+.3f} s",
                                     static_cast<double>(step_ns) * 1e-9)},
                now_ns);
}

}  // namespace everywatt::hostwatch
