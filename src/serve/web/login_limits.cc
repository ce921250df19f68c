// SPDX-License-Identifier: Apache-2.0
#include "serve/web/login_limits.h"

#include <algorithm>
#include <limits>

namespace everywatt::web {
namespace {

constexpr std::size_t kFailuresAtOnce = 10;
constexpr std::int64_t kNsAFailure = 6'000'000'000;

}  // namespace

std::optional<std::int64_t> TokenBucket::try_take(std::int64_t now_ns) {
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;
  if (burst_ == 0) return kNever;
  const std::int64_t from_ns = std::max(empty_until_ns_, now_ns);
  const auto most_steps =
      static_cast<std::size_t>(kNever / std::max<std::int64_t>(interval_ns_, 1));
  const auto steps = static_cast<std::int64_t>(std::min(burst_ - 1, most_steps));
  const std::int64_t excess_ns = (from_ns - now_ns) - steps * interval_ns_;
  if (excess_ns > 0) return excess_ns;
  empty_until_ns_ = from_ns + interval_ns_;
  return std::nullopt;
}

void TokenBucket::give_back() {
  empty_until_ns_ -= interval_ns_;
}

std::optional<std::int64_t> LoginLimits::try_fail(const std::string& client, std::int64_t now_ns) {
  auto found = clients_.find(client);
  if (found == clients_.end()) {
    if (clients_.size() >= most_clients_) {
      clients_.erase(recent_.back());
      recent_.pop_back();
    }
    recent_.push_front(client);
    found = clients_
                .emplace(client,
                         Client{.bucket = {kNsAFailure, kFailuresAtOnce}, .place = recent_.begin()})
                .first;
  } else {
    recent_.splice(recent_.begin(), recent_, found->second.place);
  }
  return found->second.bucket.try_take(now_ns);
}

void LoginLimits::forgive(const std::string& client, std::int64_t now_ns) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  found->second.bucket.give_back();
  if (!found->second.bucket.is_full(now_ns)) return;
  recent_.erase(found->second.place);
  clients_.erase(found);
}

}  // namespace everywatt::web
