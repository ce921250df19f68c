// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "catalog/metric.h"
#include "record/recorder/boot_id.h"
#include "record/recorder/format.h"

namespace everywatt::recorder {

// What a file holds room for. Slots are spare until used: a file is sparse, an unused slot costs no
// memory.
struct DevicePlan {
  catalog::Scope scope = catalog::Scope::kGpu;
  std::uint32_t parent = kNoParent;  // for MIG instances: index into LayoutOptions::devices
};

struct RingPlan {
  std::uint32_t device = 0;  // index into LayoutOptions::devices
  catalog::Lane lane{};
  std::uint64_t capacity = 0;
};

// Rows a ring by (scope, lane); 0: no ring.
using Capacities = std::array<std::array<std::uint64_t, catalog::kLaneCount>, catalog::kScopeCount>;

// Where and when the rows were read.
struct Origin {
  BootId boot_id{};
  std::int64_t created_ns = 0;       // boottime
  std::int64_t created_wall_ns = 0;  // UTC, the same moment
};

struct LayoutOptions {
  Source source = Source::kLive;
  std::vector<DevicePlan> devices;
  // A missing entry gets no ring. default_capacities() fills it.
  Capacities capacity{};
  // At most this many for a MIG instance, which is read at 1 s.
  std::uint64_t mig_capacity = 900;
  // Exactly these rings instead of those that `capacity` says, for who knows each ring's need. One
  // whose scope has no such lane is left out.
  std::vector<RingPlan> rings = {};
  // Nothing: here and now. For rows that come from another file, its own.
  std::optional<Origin> origin = {};
};

// Rows that hold 15 minutes of a lane at its default cadence (kGpm: at 1 s, which is 90 s at 100
// ms; kProcess for 4 processes a GPU; kHostProcess for 16; lanes that write only after a change
// hold a number of those). 0: the scope has no such lane, or the lane lies in the other file.
std::uint64_t default_capacity(catalog::Scope scope, catalog::Lane lane);
Capacities default_capacities();

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
// The file of processes' identities: the machine alone.
LayoutOptions identities_layout();
// The journal, which holds the marks that people and programs set: the machine alone.
LayoutOptions journal_layout();

// Bytes that a ring takes in a file, whole pages.
std::uint64_t ring_bytes(std::uint32_t row_words, std::uint64_t capacity);
// Words of a row with that many cells.
std::uint32_t row_words(std::uint32_t cells);

}  // namespace everywatt::recorder
