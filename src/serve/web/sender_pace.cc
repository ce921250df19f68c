// SPDX-License-Identifier: Apache-2.0
#include "serve/web/sender_pace.h"

#include <algorithm>

namespace everywatt::web {
namespace {

constexpr std::int64_t kTokenNs = 1'000'000'000 / SenderPace::kPerSecond;
constexpr std::int64_t kFullNs = SenderPace::kBurst * kTokenNs;
// Looking through all of them is not for each datagram of a crowd.
constexpr std::int64_t kForgetEveryNs = 1'000'000'000;

}  // namespace

bool SenderPace::admit(std::uint32_t uid, std::int64_t now_ns) {
  auto sender = empty_at_ns_.find(uid);
  if (sender == empty_at_ns_.end()) {
    if (empty_at_ns_.size() >= kSenders) forget_full(now_ns);
    if (empty_at_ns_.size() >= kSenders) return false;
    sender = empty_at_ns_.emplace(uid, now_ns - kFullNs).first;
  }
  std::int64_t& empty_at_ns = sender->second;
  empty_at_ns = std::max(empty_at_ns, now_ns - kFullNs);
  if (now_ns - empty_at_ns < kTokenNs) return false;
  empty_at_ns += kTokenNs;
  return true;
}

// A full bucket is what a new sender gets as well.
void SenderPace::forget_full(std::int64_t now_ns) {
  if (forgot_ns_ != 0 && now_ns - forgot_ns_ < kForgetEveryNs) return;
  forgot_ns_ = now_ns;
  std::erase_if(empty_at_ns_,
                [now_ns](const auto& sender) { return now_ns - sender.second >= kFullNs; });
}

}  // namespace everywatt::web
