// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/layout.h"

#include "catalog/catalog.h"
#include "catalog/row.h"

namespace everywatt::recorder {
namespace {

using catalog::Lane;
using catalog::Scope;

constexpr std::uint64_t kSecondsHeld = 15 * 60;
// The driver's power buffer has a sample each 20.7 ms.
constexpr std::uint64_t kPowerRows = kSecondsHeld * 10'000 / 207 + 1;
constexpr std::uint64_t kGpuProcesses = 4;
constexpr std::uint64_t kHostProcesses = 16;
// A row at start and one after any change: limits are set by hand, a layout by an administrator.
constexpr std::uint64_t kChangeRows = 16;
// A row after each XID; a GPU that throws more within 15 minutes has told its story.
constexpr std::uint64_t kFaultRows = 64;
// A storm of kernel messages may come in one second; what is older went to the history by then.
constexpr std::uint64_t kEventRows = 1024;
// One row a process at its first sight: two each second for 15 minutes, and 2 MiB.
constexpr std::uint64_t kIdentityRows = 2048;
// Seven minutes of one sender at the pace that it is held to, months of what people write; 9 MiB.
constexpr std::uint64_t kAnnotationRows = 8192;

std::uint64_t rows_of_lane(Lane lane) {
  switch (lane) {
    case Lane::kGauge:
      return kSecondsHeld * 10;
    case Lane::kPower:
      return kPowerRows;
    case Lane::kGpm:
    case Lane::kHost:
    case Lane::kPart:
    case Lane::kSampling:
    case Lane::kTotals:  // they advance with each reading; a row a second tells their course
      return kSecondsHeld;
    case Lane::kProcess:
      return kSecondsHeld * kGpuProcesses;
    case Lane::kHostProcess:
      return kSecondsHeld * kHostProcesses;
    case Lane::kSlow:
      return kSecondsHeld / 10;
    case Lane::kOnce:
      return kChangeRows;
    case Lane::kFaults:
      return kFaultRows;
    case Lane::kEvent:
      return kEventRows;
    case Lane::kIdentity:
      return kIdentityRows;
  }
  return 0;
}

void add_devices(LayoutOptions& options, unsigned count, Scope scope,
                 std::uint32_t parent = kNoParent) {
  options.devices.insert(options.devices.end(), count,
                         DevicePlan{.scope = scope, .parent = parent});
}

}  // namespace

std::uint64_t default_capacity(Scope scope, Lane lane) {
  // Those lie in other files.
  if (lane == Lane::kIdentity || (scope == Scope::kNode && lane == Lane::kEvent)) return 0;
  if (catalog::schema(scope, lane).cells == 0) return 0;
  return rows_of_lane(lane);
}

Capacities default_capacities() {
  Capacities all{};
  for (unsigned scope = 0; scope < catalog::kScopeCount; ++scope) {
    for (unsigned lane = 0; lane < catalog::kLaneCount; ++lane) {
      all[scope][lane] = default_capacity(static_cast<Scope>(scope), static_cast<Lane>(lane));
    }
  }
  return all;
}

LayoutOptions live_layout(const MachineShape& shape) {
  LayoutOptions options{.source = Source::kLive, .devices = {}, .capacity = default_capacities()};
  add_devices(options, 1, Scope::kNode);
  add_devices(options, kPartCount, Scope::kPart);
  const auto first_gpu = static_cast<std::uint32_t>(options.devices.size());
  const unsigned gpus = shape.gpus + shape.spare_gpus;
  add_devices(options, gpus, Scope::kGpu);
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    add_devices(options, shape.migs_per_gpu, Scope::kGpu, first_gpu + gpu);
  }
  add_devices(options, shape.disks, Scope::kDisk);
  add_devices(options, shape.interfaces, Scope::kInterface);
  add_devices(options, shape.infiniband_ports, Scope::kInfiniband);
  return options;
}

LayoutOptions identities_layout() {
  LayoutOptions options{.source = Source::kIdentities, .devices = {}};
  add_devices(options, 1, Scope::kNode);
  options.capacity[static_cast<unsigned>(Scope::kNode)][static_cast<unsigned>(Lane::kIdentity)] =
      rows_of_lane(Lane::kIdentity);
  return options;
}

LayoutOptions journal_layout() {
  LayoutOptions options{.source = Source::kJournal, .devices = {}};
  add_devices(options, 1, Scope::kNode);
  options.capacity[static_cast<unsigned>(Scope::kNode)][static_cast<unsigned>(Lane::kEvent)] =
      kAnnotationRows;
  return options;
}

std::uint32_t row_words(std::uint32_t cells) {
  return kRowHeaderWords + static_cast<std::uint32_t>(catalog::state_words(cells)) + cells;
}

std::uint64_t ring_bytes(std::uint32_t row_words, std::uint64_t capacity) {
  const std::uint64_t bytes = capacity * row_words * sizeof(Word);
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace everywatt::recorder
