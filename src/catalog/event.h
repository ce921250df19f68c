// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace everywatt::catalog {

// What an event says (event_kind). The numbers are part of the recorder's format: never renumber.
enum class EventKind : std::uint8_t {
  kUnknown = 0,
  kXid = 1,                 // a driver error; event_code: its number
  kEcc = 2,                 // uncorrected memory errors; event_code: how many more
  kGpuLost = 3,             // the GPU is gone from the bus
  kGpuBack = 4,             // it can be read again
  kTimedOut = 5,            // a driver call did not return in time
  kDrained = 6,             // let go of on request
  kResumed = 7,             // taken up again
  kGpuReset = 8,            // the GPU was reset
  kThrottleStart = 9,       // a clock event reason other than idle was set; event_code: its bit
  kThrottleEnd = 10,        // it was cleared
  kProcessStart = 11,       // a process appeared on the GPU
  kProcessEnd = 12,         // it left; event_code: its exit status where known
  kMigChanged = 13,         // MIG mode or instances changed
  kDriverChanged = 14,      // another driver version
  kDriverAbsent = 15,       // no driver, or its library cannot be loaded
  kCoverageLost = 16,       // readings were not taken; event_code: seconds
  kClockStep = 17,          // the wall clock jumped; event_code: milliseconds (signed)
  kPartStarted = 18,        // a process of Everywatt started
  kPartEnded = 19,          // it ended; event_code: its exit status
  kRecorderReplaced = 20,   // a new recorder file took over
  kKernelLine = 21,         // a line of the kernel's log that concerns a GPU
  kAnnotation = 22,         // a mark that somebody set
  kIncident = 23,           // minutes around a fault are kept
  kLinkDown = 24,           // an NVLink went down; event_code: the link
  kLinkUp = 25,             // it is up again
  kRowRemapped = 26,        // a memory row was remapped, is pending or failed
  kOutOfMemory = 27,        // the kernel killed a process for want of memory
  kPowerLimitChanged = 28,  // event_code: the new limit in milliwatts
  kDriverBack = 29,         // the driver can be used again
  kGpuAdded = 30,           // the kernel lists a GPU that it did not list before
  kGpuRemoved = 31,         // it lists it no more: pulled, or taken from the system
};
inline constexpr unsigned kEventKindCount = 32;

// Who told it (event_source).
enum class EventSource : std::uint8_t {
  kUnknown = 0,
  kNvml = 1,      // the driver's events
  kReadings = 2,  // seen in two readings one after the other
  kKernelLog = 3,
  kUevent = 4,  // the kernel's device notifications
  kHost = 5,    // pidfds and /proc
  kSupervisor = 6,
  kUser = 7,  // a person or a program that left a mark
};
inline constexpr unsigned kEventSourceCount = 8;

std::string_view event_kind_name(EventKind kind);        // "xid", "gpu_lost"; "unknown"
std::string_view event_source_name(EventSource source);  // "nvml", "kernel_log"; "unknown"
std::optional<EventKind> event_kind_by_name(std::string_view name);

}  // namespace everywatt::catalog
