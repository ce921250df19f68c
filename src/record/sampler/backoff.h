// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace everywatt::sampler {

// When to try again what failed: after a first pause, then each time after twice as long, up to a
// longest one.
class Backoff {
 public:
  Backoff(std::int64_t first_ns, std::int64_t longest_ns)
      : first_ns_(first_ns), longest_ns_(longest_ns), pause_ns_(first_ns) {}

  bool is_due(std::int64_t now_ns) const { return now_ns >= next_ns_; }
  std::int64_t next_ns() const { return next_ns_; }

  void fail(std::int64_t now_ns) {
    next_ns_ = now_ns + pause_ns_;
    pause_ns_ = std::min(2 * pause_ns_, longest_ns_);
  }
  void succeed() {
    next_ns_ = 0;
    pause_ns_ = first_ns_;
  }

 private:
  std::int64_t first_ns_;
  std::int64_t longest_ns_;
  std::int64_t pause_ns_;
  std::int64_t next_ns_ = 0;
};

}  // namespace everywatt::sampler
