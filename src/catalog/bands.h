// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

// The bands that histogram metrics count in: who counts and who shows take the bounds from here.
namespace everywatt::catalog {

// Upper bounds (inclusive) of the cells of gpu_utilization_sampled_ratio_bucket and
// gpu_sm_active_sampled_ratio_bucket. The ends are finer, since that is where idle, starved and
// saturated part. The last is as good as +Inf: no ratio is above 1.
inline constexpr std::array kRatioBands = {0.01, 0.05, 0.1, 0.2, 0.3,  0.4, 0.5,
                                           0.6,  0.7,  0.8, 0.9, 0.95, 1.0};

// The same for gpu_power_sampled_watts_bucket, as shares of gpu_power_limit_max_watts; the cell
// behind the last one is +Inf.
inline constexpr std::array kPowerBands = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};

// The cell that counts `value`: the first whose bound is not below it, else the one behind the
// last.
constexpr std::size_t band_of(std::span<const double> bounds, double value) {
  return static_cast<std::size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin());
}

}  // namespace everywatt::catalog
