// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/sim/library/library.h"

// What is told of a GPU and of a MIG instance alike; an entry is of enter_any().
namespace everywatt::sim {

bool is_mig_on(const Entry& entry);

// For the functions that the driver leaves out on a GPU in MIG mode and on its instances.
template <typename Body>
abi::Return on_whole_gpu(Call call, abi::Device device, Body body) {
  const Entry entry = enter(call, device);
  if (entry.outcome) return *entry.outcome;
  if (is_mig_on(entry)) return abi::Return::kNotSupported;
  return body(*entry.gpu, entry.moment);
}

std::string name_of(const Entry& entry);
const std::string& uuid_of(const Entry& entry);

// In MIG mode a GPU's programs hold what those of its instances hold.
struct MemoryUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t used_bytes = 0;
};
MemoryUse memory_of(const Entry& entry);
MemoryUse bar1_of(const Entry& entry);

struct PlacedProcess {
  RunningProcess process;
  const MigInstance* mig = nullptr;
};
// In MIG mode only those that run in an instance.
std::vector<PlacedProcess> processes_of(const Entry& entry, ProcessKind kind);

}  // namespace everywatt::sim
