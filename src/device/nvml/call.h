// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "catalog/reading.h"
#include "device/nvml/abi.h"

// Which driver function is called, what its return code means, and the trace that a call leaves.
namespace everywatt::nvml {

enum class Call : std::uint16_t {
#define CALL(name) name,
#include "device/nvml/calls.inc"
#undef CALL
};

inline constexpr unsigned kCallCount = 0
#define CALL(name) +1
#include "device/nvml/calls.inc"
#undef CALL
    ;

// The driver's newest name of the function: "nvmlDeviceGetUtilizationRates".
std::string_view call_name(Call call);
// The name of a breadcrumb (Call + 1; 0: none) as a recorder keeps it; "unknown call" for a number
// that this version does not know.
std::string_view breadcrumb_name(std::uint64_t breadcrumb);

// What a driver's return code means for a reading. The only place that decides it.
catalog::State state_of(abi::Return code);

// What the calls of one thread came to. Written by that thread, read by any.
struct CallTally {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> failures{0};  // failed, lost or timed out; not 'unsupported'
  std::atomic<std::uint64_t> call_ns{0};   // wall time inside the driver
  std::atomic<std::uint64_t> rejected{0};  // readings outside their range, and sentinels
};

// Where a thread says which call it is in: `call` holds Call + 1 while one runs, else 0, and
// `since_ns` its start (boottime). Whoever watches them sees a call that does not return. Null
// members are left out. What it points to outlives the calls.
//
// A thread whose calls are about several devices says in `mark` about which: it is added to `call`,
// above the bits of kCallMask.
inline constexpr std::uint64_t kCallMask = 0xffff;
struct CallTrace {
  std::atomic<std::uint64_t>* call = nullptr;
  std::atomic<std::uint64_t>* since_ns = nullptr;
  CallTally* tally = nullptr;
  std::uint64_t mark = 0;
};

}  // namespace everywatt::nvml
