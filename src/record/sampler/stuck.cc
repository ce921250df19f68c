// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/sampler.h"

namespace everywatt::sampler {
namespace {

constexpr unsigned kMarkShift = 32;
// The wait for events lasts as long as it is asked to, which is well below this.
constexpr std::int64_t kEventWaitNs = 2'000'000'000;

std::int64_t allowed_ns(nvml::Call call, const Deadlines& deadlines) {
  switch (call) {
    case nvml::Call::kInit:
    case nvml::Call::kShutdown:
      return deadlines.init_ns;
    case nvml::Call::kEventSetWait:
      return deadlines.call_ns + kEventWaitNs;
    default:
      return deadlines.call_ns;
  }
}

}  // namespace

std::uint64_t slot_mark(std::uint32_t slot) {
  return (std::uint64_t{slot} + 1) << kMarkShift;
}

std::optional<std::uint32_t> marked_slot(std::uint64_t breadcrumb) {
  const std::uint64_t mark = breadcrumb >> kMarkShift;
  if (mark == 0) return std::nullopt;
  return static_cast<std::uint32_t>(mark - 1);
}

std::vector<StuckCall> find_stuck_calls(recorder::File& file, std::int64_t now_ns,
                                        const Deadlines& deadlines) {
  std::vector<StuckCall> stuck;
  for (std::uint32_t slot = 0; slot < file.device_count(); ++slot) {
    const recorder::DeviceSlot& device = file.device(slot);
    const std::uint64_t crumb = device.call.load(std::memory_order_acquire);
    const std::uint64_t number = crumb & nvml::kCallMask;
    if (number == 0 || number > nvml::kCallCount) continue;
    const auto call = static_cast<nvml::Call>(number - 1);
    const auto since_ns =
        static_cast<std::int64_t>(device.call_since_ns.load(std::memory_order_acquire));
    // The call may have ended, and the next one begun, between the two loads.
    if (device.call.load(std::memory_order_acquire) != crumb) continue;
    if (now_ns - since_ns > allowed_ns(call, deadlines)) {
      const std::uint32_t marked = marked_slot(crumb).value_or(slot);
      stuck.push_back({.device = marked < file.device_count() ? marked : slot,
                       .call = call,
                       .since_ns = since_ns});
    }
  }
  return stuck;
}

}  // namespace everywatt::sampler
