// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "catalog/metric.h"
#include "record/recorder/format.h"

namespace everywatt::recorder {

// What a file holds room for. Slots are spare until used: a file is sparse, an unused slot costs no
// memory.
struct DevicePlan {
  catalog::Scope scope = catalog::Scope::kGpu;
  std::uint32_t parent = kNoParent;  // for MIG instances: index into LayoutOptions::devices
};

struct LayoutOptions {
  Source source = Source::kLive;
  std::vector<DevicePlan> devices;
  // Rows a ring by (scope, lane); a missing entry gets no ring. default_capacity() fills it.
  std::array<std::array<std::uint64_t, catalog::kLaneCount>, catalog::kScopeCount> capacity{};
};

// Rows that hold 15 minutes of a lane at its default cadence (kGpm: at 1 s, which is 90 s at 100 ms;
// kProcess for 4 processes a GPU; kHostProcess for 16). 0: the scope has no such lane, or the lane
// lies in the other file. A MIG instance (parent set) is read at 1 s and gets 900 rows a lane.
std::uint64_t default_capacity(catalog::Scope scope, catalog::Lane lane);

// The live recorder: the machine, the four parts, `gpus` GPU slots in use order with `spare_gpus`
// behind them, `migs_per_gpu` instances for each, then disks, interfaces, InfiniBand ports.
struct MachineShape {
  unsigned gpus = 0;
  unsigned spare_gpus = 2;
  unsigned migs_per_gpu = 7;
  unsigned disks = 16;
  unsigned interfaces = 16;
  unsigned infiniband_ports = 8;
};
LayoutOptions live_layout(const MachineShape& shape);
LayoutOptions identities_layout();

}  // namespace everywatt::recorder
