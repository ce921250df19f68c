// SPDX-License-Identifier: Apache-2.0
#include "read/view/cause.h"

#include <algorithm>

#include "read/view/events.h"

namespace everywatt::view {
namespace {

// The event may be written a little before the status.
constexpr std::int64_t kBeforeNs = 1'000'000'000;

bool is_unreadable(DeviceStatus status) {
  return status == DeviceStatus::kLost || status == DeviceStatus::kTimedOut ||
         status == DeviceStatus::kFailed;
}

}  // namespace

std::string find_cause(const View& view, const Device& device) {
  if (!is_unreadable(device.status)) return {};
  using catalog::EventKind;
  std::vector<Event> events = read_events(
      view, {.from_ns = device.status_since_ns - kBeforeNs,
             .to_ns = view.now_ns(),
             .kinds = {EventKind::kDriverAbsent, EventKind::kTimedOut, EventKind::kGpuLost}});
  const auto machine = node(view);
  std::erase_if(events, [&](const Event& event) {
    const bool concerns_it = event.slot == device.slot || event.slot == device.parent ||
                             (event.slot && event.slot == machine);
    return !concerns_it || event.text.empty();
  });
  return events.empty() ? std::string{} : std::move(events.back().text);
}

}  // namespace everywatt::view
