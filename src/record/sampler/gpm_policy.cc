// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/gpm_policy.h"

#include <algorithm>
#include <utility>

namespace everywatt::sampler {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr double kBusyRatio = 0.05;
constexpr std::int64_t kBusyFor = 10 * kSecond;
constexpr std::int64_t kFirst = 10 * kMinute;
constexpr std::int64_t kCycle = 10 * kMinute;
constexpr std::int64_t kOfEachCycle = kMinute;
constexpr double kSavedSeconds = 60;

bool is_in_fast_part(std::int64_t since_ns, std::int64_t now_ns) {
  const std::int64_t age_ns = now_ns - since_ns;
  return age_ns < kFirst || age_ns % kCycle < kOfEachCycle;
}

}  // namespace

void GpmPolicy::see_utilization(double ratio, std::int64_t now_ns) {
  if (ratio <= kBusyRatio) {
    busy_since_ns_ = 0;
    return;
  }
  if (busy_since_ns_ == 0) busy_since_ns_ = now_ns;
  if (now_ns - busy_since_ns_ < kBusyFor) return;
  // The driver's shares of single processes lag by seconds: whoever is there counts.
  for (Known& process : processes_) {
    if (process.since_ns == 0) process.since_ns = now_ns;
  }
}

void GpmPolicy::see_processes(std::span<const std::uint32_t> pids) {
  std::erase_if(processes_, [&](const Known& known) {
    return std::ranges::find(pids, known.pid) == pids.end();
  });
  for (const std::uint32_t pid : pids) {
    if (std::ranges::find(processes_, pid, &Known::pid) == processes_.end()) {
      processes_.push_back({.pid = pid, .since_ns = 0});
    }
  }
}

void GpmPolicy::lease(std::int64_t until_ns) {
  std::int64_t before = leased_until_ns_.load(std::memory_order_relaxed);
  while (before < until_ns && !leased_until_ns_.compare_exchange_weak(before, until_ns)) {
  }
}

bool GpmPolicy::wants_fast(std::int64_t now_ns) {
  if (now_ns < leased_until_ns_.load(std::memory_order_relaxed)) return true;
  return std::ranges::any_of(processes_, [now_ns](const Known& process) {
    return process.since_ns != 0 && is_in_fast_part(process.since_ns, now_ns);
  });
}

CpuAllowance::CpuAllowance(double ratio, std::int64_t now_ns)
    : ratio_(ratio),
      room_ns_(ratio * kSavedSeconds * 1e9),
      earned_until_ns_(now_ns),
      asked_ns_(now_ns) {}

void CpuAllowance::spend(std::int64_t cpu_ns) {
  const std::lock_guard lock(mutex_);
  room_ns_ -= static_cast<double>(cpu_ns);
  spent_since_asked_ns_ += cpu_ns;
}

bool CpuAllowance::has_room(std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  const double earned_ns =
      ratio_ * static_cast<double>(std::max<std::int64_t>(now_ns - earned_until_ns_, 0));
  earned_until_ns_ = std::max(now_ns, earned_until_ns_);
  room_ns_ = std::min(room_ns_ + earned_ns, ratio_ * kSavedSeconds * 1e9);
  return room_ns_ > 0;
}

double CpuAllowance::take_used_ratio(std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  const double allowed_ns = ratio_ * static_cast<double>(now_ns - asked_ns_);
  const auto used_ns = static_cast<double>(std::exchange(spent_since_asked_ns_, 0));
  asked_ns_ = now_ns;
  return allowed_ns > 0 ? used_ns / allowed_ns : 0;
}

}  // namespace everywatt::sampler
