// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/sampler.h"

namespace everywatt::sampler {
namespace {

bool is_start(nvml::Call call) {
  return call == nvml::Call::kInit || call == nvml::Call::kShutdown;
}

}  // namespace

std::vector<StuckCall> find_stuck_calls(recorder::File& file, std::int64_t now_ns,
                                        const Deadlines& deadlines) {
  std::vector<StuckCall> stuck;
  for (std::uint32_t slot = 0; slot < file.device_count(); ++slot) {
    const recorder::DeviceSlot& device = file.device(slot);
    const std::uint64_t crumb = device.call.load(std::memory_order_acquire);
    if (crumb == 0 || crumb > nvml::kCallCount) continue;
    const auto call = static_cast<nvml::Call>(crumb - 1);
    const auto since_ns =
        static_cast<std::int64_t>(device.call_since_ns.load(std::memory_order_acquire));
    // The call may have ended, and the next one begun, between the two loads.
    if (device.call.load(std::memory_order_acquire) != crumb) continue;
    const std::int64_t allowed_ns = is_start(call) ? deadlines.init_ns : deadlines.call_ns;
    if (now_ns - since_ns > allowed_ns) {
      stuck.push_back({.device = slot, .call = call, .since_ns = since_ns});
    }
  }
  return stuck;
}

}  // namespace everywatt::sampler
