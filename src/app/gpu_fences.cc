// SPDX-License-Identifier: Apache-2.0
#include "app/gpu_fences.h"

namespace everywatt::app {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;
constexpr std::int64_t kLongest = 10 * kMinute;
constexpr std::int64_t kWentWell = 30 * kMinute;

}  // namespace

GpuFences::Fence::Fence(std::int64_t first_ns) : backoff(first_ns, kLongest, kWentWell) {}

void GpuFences::raise(std::uint32_t gpu, std::int64_t now_ns) {
  Fence& raised = fence(gpu);
  raised.is_up = true;
  raised.retry_at_ns = now_ns + raised.backoff.next(now_ns - raised.lowered_ns);
}

bool GpuFences::note_crash(std::uint32_t gpu, std::int64_t now_ns) {
  Fence& crashed = fence(gpu);
  const bool is_second = crashed.crashed_ns != 0 && now_ns - crashed.crashed_ns <= kMinute;
  // What crashed again after it was left alone needs no second proof.
  const bool is_again =
      crashed.lowered_ns != 0 && now_ns - crashed.lowered_ns <= kMinute && crashed.crashed_ns != 0;
  crashed.crashed_ns = now_ns;
  if (!is_second && !is_again) return false;
  raise(gpu, now_ns);
  return true;
}

bool GpuFences::lower_due(std::int64_t now_ns, const std::function<bool(std::uint32_t)>& is_held) {
  bool is_any = false;
  for (auto& [gpu, fence] : fences_) {
    if (!fence.is_up || now_ns < fence.retry_at_ns || is_held(gpu)) continue;
    fence.is_up = false;
    fence.lowered_ns = now_ns;
    is_any = true;
  }
  return is_any;
}

void GpuFences::lower_all(const std::function<bool(std::uint32_t)>& is_held) {
  std::erase_if(fences_, [&](const auto& entry) { return !is_held(entry.first); });
}

bool GpuFences::is_up(std::uint32_t gpu) const {
  const auto found = fences_.find(gpu);
  return found != fences_.end() && found->second.is_up;
}

std::vector<std::uint32_t> GpuFences::gpus() const {
  std::vector<std::uint32_t> raised;
  for (const auto& [gpu, fence] : fences_) {
    if (fence.is_up) raised.push_back(gpu);
  }
  return raised;
}

}  // namespace everywatt::app
