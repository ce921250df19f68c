// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace everywatt::notify {

// A token bucket: `per_minute` messages on average, `burst` at once after a quiet time.
class Bucket {
 public:
  Bucket(double per_minute, double burst, std::int64_t now_ns)
      : per_ns_(per_minute / 60e9), burst_(burst), tokens_(burst), filled_ns_(now_ns) {}

  void refill(std::int64_t now_ns) {
    const std::int64_t passed_ns = std::max<std::int64_t>(0, now_ns - filled_ns_);
    tokens_ = std::min(burst_, tokens_ + static_cast<double>(passed_ns) * per_ns_);
    filled_ns_ = now_ns;
  }
  double burst() const { return burst_; }
  // After a refill: rounding must not make a whole token wait.
  bool has(double tokens) const { return tokens_ + 1e-6 >= tokens; }
  void take() { tokens_ = std::max(0.0, tokens_ - 1); }
  void empty() { tokens_ = 0; }
  // When so many will be there. REQUIRES: tokens <= burst.
  std::int64_t when(double tokens) const {
    if (has(tokens)) return filled_ns_;
    return filled_ns_ + static_cast<std::int64_t>((tokens - tokens_) / per_ns_) + 1;
  }

 private:
  double per_ns_;
  double burst_;
  double tokens_;
  std::int64_t filled_ns_;
};

}  // namespace everywatt::notify
