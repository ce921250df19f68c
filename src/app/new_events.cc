// SPDX-License-Identifier: Apache-2.0
#include "app/new_events.h"

namespace everywatt::app {

NewEvents::NewEvents(std::int64_t since_ns, std::span<const view::Event> known)
    : from_ns_(since_ns - kLateEventNs) {
  for (const view::Event& event : known) {
    known_.emplace(event.ring, event.sequence);
  }
}

std::vector<view::Event> NewEvents::take(const view::View& view) {
  std::vector<view::Event> events = view::read_events(view, {.from_ns = from_ns_});
  std::erase_if(events, [this](const view::Event& event) {
    return !known_.emplace(event.ring, event.sequence).second;
  });
  return events;
}

}  // namespace everywatt::app
