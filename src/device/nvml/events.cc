// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/events.h"

#include <utility>

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::State;

constexpr unsigned long long kWanted = abi::event::kSingleBitEcc | abi::event::kDoubleBitEcc |
                                       abi::event::kXidCritical | abi::event::kMigConfig;

EventType type_of(unsigned long long bits) {
  if ((bits & abi::event::kXidCritical) != 0) return EventType::kXid;
  if ((bits & abi::event::kDoubleBitEcc) != 0) return EventType::kDoubleBitEcc;
  if ((bits & abi::event::kSingleBitEcc) != 0) return EventType::kSingleBitEcc;
  if ((bits & abi::event::kMigConfig) != 0) return EventType::kMigChanged;
  return EventType::kOther;
}

}  // namespace

Answer<EventSet> EventSet::open(Library& library, const CallTrace& trace) {
  EventSet events(library, trace);
  const Return code = library.call<Call::kEventSetCreate>(trace, &events.set_);
  if (code != Return::kSuccess) return std::unexpected(state_of(code));
  return events;
}

EventSet::EventSet(EventSet&& other) noexcept
    : library_(other.library_), trace_(other.trace_), set_(std::exchange(other.set_, nullptr)) {}

EventSet::~EventSet() {
  if (set_ != nullptr) static_cast<void>(library_->call<Call::kEventSetFree>(trace_, set_));
}

State EventSet::watch(Device& device) {
  unsigned long long supported = 0;
  const Return code = device.call<Call::kDeviceGetSupportedEventTypes>(&supported);
  if (code != Return::kSuccess) return state_of(code);
  if ((supported & kWanted) == 0) return State::kNotSupported;
  return state_of(device.call<Call::kDeviceRegisterEvents>(supported & kWanted, set_));
}

Answer<std::optional<Event>> EventSet::wait(unsigned timeout_ms) {
  abi::EventRecord record{};
  // The wait before _v2 knows no instances and leaves them as they are.
  record.gpu_instance_id = abi::kInstanceNone;
  // Not counted: it blocks by design, and its timeout is no failure.
  const CallTrace uncounted{.call = trace_.call, .since_ns = trace_.since_ns};
  const Return code = library_->call<Call::kEventSetWait>(uncounted, set_, &record, timeout_ms);
  if (code == Return::kTimeout) return std::nullopt;
  if (code != Return::kSuccess) return std::unexpected(state_of(code));
  return Event{.type = type_of(record.event_type),
               .device = record.device,
               .number = record.event_data,
               .gpu_instance_id = record.gpu_instance_id};
}

}  // namespace everywatt::nvml
