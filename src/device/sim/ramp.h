// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace everywatt::sim {

// A quantity that only grows, known at the rows of a trace and growing evenly between them: CPU
// seconds, stall time. Immutable after the last append.
class Ramp {
 public:
  // `rate` is the growth a second since the row before.
  void append(std::int64_t at_ns, double rate) {
    const std::int64_t since_ns = at_ns_.empty() ? 0 : at_ns_.back();
    const double before = sums_.empty() ? 0 : sums_.back();
    at_ns_.push_back(at_ns);
    sums_.push_back(before + rate * static_cast<double>(at_ns - since_ns) / 1e9);
  }

  // After the last row it stays as it is.
  double at(std::int64_t trace_ns) const {
    const auto after = std::upper_bound(at_ns_.begin(), at_ns_.end(), trace_ns);
    const auto i = static_cast<std::size_t>(after - at_ns_.begin());
    if (at_ns_.empty()) return 0;
    if (i == at_ns_.size()) return sums_.back();
    const std::int64_t since_ns = i == 0 ? 0 : at_ns_[i - 1];
    const double before = i == 0 ? 0 : sums_[i - 1];
    const double part = static_cast<double>(trace_ns - since_ns) /
                        static_cast<double>(std::max<std::int64_t>(1, at_ns_[i] - since_ns));
    return before + (sums_[i] - before) * std::max(0.0, part);
  }

 private:
  std::vector<std::int64_t> at_ns_;
  std::vector<double> sums_;
};

}  // namespace everywatt::sim
