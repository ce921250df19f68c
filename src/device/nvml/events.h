// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "device/nvml/device.h"

namespace everywatt::nvml {

// What the driver reports by itself.
enum class EventType { kXid, kSingleBitEcc, kDoubleBitEcc, kMigChanged, kOther };

struct Event {
  EventType type{};
  abi::Device device = nullptr;  // Device::handle() of the GPU
  std::uint64_t number = 0;      // of the XID
  std::uint32_t gpu_instance_id = abi::kInstanceNone;
};

// The driver's event set. wait() belongs to one thread; watch() may be called from any meanwhile.
// The library must outlive it.
class EventSet {
 public:
  // kNotSupported: a library without events.
  static Answer<EventSet> open(Library& library, const CallTrace& trace);
  EventSet(EventSet&& other) noexcept;
  EventSet& operator=(EventSet&&) = delete;
  ~EventSet();

  // Asks for XIDs, ECC errors and MIG changes of a GPU, as far as it supports them. Not for clock
  // changes: under load they come several times a second and tell nothing that gauges do not.
  catalog::State watch(Device& device);

  // Blocks until something happens, at most `timeout_ms`. Nothing: nothing happened, and all is
  // well. A state is an error that may come back at once: the caller has to slow down.
  Answer<std::optional<Event>> wait(unsigned timeout_ms);

 private:
  EventSet(Library& library, const CallTrace& trace) : library_(&library), trace_(trace) {}

  Library* library_;
  CallTrace trace_;
  abi::EventSet set_ = nullptr;
};

}  // namespace everywatt::nvml
