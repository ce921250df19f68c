// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace everywatt::web {

// Holds each sender to a pace: a token bucket a user, filled at kPerSecond up to kBurst. Memory is
// bounded: of more senders than kSenders at a time the surplus ones are held back altogether. One
// thread.
class SenderPace {
 public:
  static constexpr std::int64_t kPerSecond = 20;
  static constexpr std::int64_t kBurst = 100;
  static constexpr std::size_t kSenders = 1024;

  // True: one more of this user's now is within the pace. REQUIRES: time does not run back.
  bool admit(std::uint32_t uid, std::int64_t now_ns);

 private:
  void forget_full(std::int64_t now_ns);

  // By user: since when the bucket has been filling, as if it had been empty then. An earlier
  // moment is a fuller bucket.
  std::map<std::uint32_t, std::int64_t> empty_at_ns_;
  std::int64_t forgot_ns_ = 0;
};

}  // namespace everywatt::web
