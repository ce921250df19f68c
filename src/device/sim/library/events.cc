// SPDX-License-Identifier: Apache-2.0
//
// Event sets: what the scenario says happens, delivered to every set that asked for it, once.
#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "device/sim/library/driver.h"
#include "device/sim/library/library.h"

using namespace everywatt::sim;
using abi::Device;
using abi::EventRecord;
using abi::EventSet;
using abi::Return;

namespace everywatt::nvml::abi {

// Keeps the library whose GPUs it names: a caller may shut the library down before it frees a set.
struct EventSetTag {
  explicit EventSetTag(std::shared_ptr<Library> of) : library(std::move(of)) {}

  struct Registration {
    const Gpu* gpu;
    unsigned long long types;
    std::int64_t since_ns;  // played; earlier events are not for this set
    std::size_t delivered;  // of the scenario's events, in time order, for this GPU
  };
  const std::shared_ptr<Library> library;
  std::mutex mutex;
  std::vector<Registration> registrations;
};

}  // namespace everywatt::nvml::abi

namespace {

using Registration = abi::EventSetTag::Registration;
using SteadyClock = std::chrono::steady_clock;

// A stepped playhead may be moved by anybody at any time, so a wait looks at it this often.
constexpr std::chrono::nanoseconds kLookStepped = std::chrono::milliseconds(2);
// In real time the next event is known; somebody may still begin to step.
constexpr std::chrono::nanoseconds kLookRealTime = std::chrono::milliseconds(20);
constexpr unsigned long long kSupportedEvents = 0xff9f;

// The events of one registration, oldest first, are counted as they come due; the scenario need not
// be sorted.
const EventEntry* next_due(const Scenario& scenario, Registration& registration,
                           std::int64_t played_ns) {
  std::vector<const EventEntry*> due;
  for (const EventEntry& event : scenario.events) {
    const bool is_here = !event.gpu || *event.gpu == registration.gpu->number();
    if (is_here && (event.type & registration.types) != 0 && event.at_ns > registration.since_ns &&
        event.at_ns <= played_ns) {
      due.push_back(&event);
    }
  }
  if (due.size() <= registration.delivered) return nullptr;
  std::stable_sort(due.begin(), due.end(), [](const EventEntry* left, const EventEntry* right) {
    return left->at_ns < right->at_ns;
  });
  return due[registration.delivered++];
}

bool take_event(Library& library, abi::EventSetTag& set, EventRecord& out) {
  const std::int64_t played_ns = library.playhead().now().played_ns;
  const std::lock_guard lock(set.mutex);
  for (Registration& registration : set.registrations) {
    const EventEntry* event = next_due(library.scenario(), registration, played_ns);
    if (!event) continue;
    out = {.device = reinterpret_cast<Device>(const_cast<Gpu*>(registration.gpu)),
           .event_type = event->type,
           .event_data = event->number,
           .gpu_instance_id = abi::kInstanceNone,
           .compute_instance_id = abi::kInstanceNone};
    return true;
  }
  return false;
}

// How long nothing can come, at most until it is time to look again.
std::chrono::nanoseconds quiet_time(Library& library) {
  if (library.playhead().is_stepped()) return kLookStepped;
  const std::int64_t played_ns = library.playhead().now().played_ns;
  std::chrono::nanoseconds quiet = kLookRealTime;
  for (const EventEntry& event : library.scenario().events) {
    if (event.at_ns > played_ns) {
      quiet = std::min(quiet, std::chrono::nanoseconds(event.at_ns - played_ns));
    }
  }
  return quiet;
}

Return wait(Call call, EventSet set, EventRecord* out, unsigned timeout_ms) {
  const auto deadline = SteadyClock::now() + std::chrono::milliseconds(timeout_ms);
  const Entry entry = enter(call);
  if (entry.outcome) return *entry.outcome;
  if (!set || !out || set->library != entry.library) return Return::kInvalidArgument;
  while (true) {
    if (take_event(*entry.library, *set, *out)) return Return::kSuccess;
    if (entry.library->is_stale()) return Return::kUninitialized;
    const auto left = deadline - SteadyClock::now();
    if (left <= SteadyClock::duration::zero()) return Return::kTimeout;
    std::this_thread::sleep_for(std::min(left, quiet_time(*entry.library)));
  }
}

}  // namespace

namespace everywatt::sim::driver {

Return nvmlDeviceGetSupportedEventTypes(Device device, unsigned long long* mask) {
  return give("nvmlDeviceGetSupportedEventTypes", device, mask,
              [](Gpu&, const Moment&) { return kSupportedEvents; });
}

Return nvmlEventSetCreate(EventSet* out) {
  const Entry entry = enter("nvmlEventSetCreate");
  if (entry.outcome) return *entry.outcome;
  if (!out) return Return::kInvalidArgument;
  *out = std::make_unique<abi::EventSetTag>(entry.library).release();
  return Return::kSuccess;
}

Return nvmlDeviceRegisterEvents(Device device, unsigned long long types, EventSet set) {
  return on_gpu("nvmlDeviceRegisterEvents", device, [&](Gpu& gpu, const Moment& moment) {
    if (!set || set->library->find(device) != &gpu) return Return::kInvalidArgument;
    if ((types & ~kSupportedEvents) != 0) return Return::kNotSupported;
    const std::lock_guard lock(set->mutex);
    set->registrations.push_back({&gpu, types, moment.played_ns, 0});
    return Return::kSuccess;
  });
}

Return nvmlEventSetWait_v2(EventSet set, EventRecord* out, unsigned timeout_ms) {
  return wait("nvmlEventSetWait_v2", set, out, timeout_ms);
}
Return nvmlEventSetWait(EventSet set, EventRecord* out, unsigned timeout_ms) {
  return wait("nvmlEventSetWait", set, out, timeout_ms);
}

Return nvmlEventSetFree(EventSet set) {
  if (const auto fault = fault_of_freeing("nvmlEventSetFree")) return *fault;
  if (!set) return Return::kInvalidArgument;
  const std::unique_ptr<abi::EventSetTag> owned(set);
  return Return::kSuccess;
}

}  // namespace everywatt::sim::driver
