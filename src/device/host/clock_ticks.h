// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace everywatt::host {

// What the kernel's text files count time in. USER_HZ is part of the kernel's ABI: 100 on every
// architecture that we run on, whatever CONFIG_HZ is.
inline constexpr std::uint64_t kTicksPerSecond = 100;

inline double ticks_to_seconds(std::uint64_t ticks) {
  return static_cast<double>(ticks) / static_cast<double>(kTicksPerSecond);
}
inline std::int64_t ticks_to_ns(std::uint64_t ticks) {
  return static_cast<std::int64_t>(ticks * (1'000'000'000 / kTicksPerSecond));
}

}  // namespace everywatt::host
