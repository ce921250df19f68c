// SPDX-License-Identifier: Apache-2.0
//
// MIG: the mode, the instances and what they consist of.
#include "device/sim/library/mig.h"

#include <algorithm>
#include <limits>

#include "device/sim/library/driver.h"
#include "device/sim/mig_layout.h"

namespace everywatt::sim {
namespace {

using abi::Device;
using abi::Return;

constexpr std::uint64_t kMiB = 1ull << 20;
// What an instance takes for itself while nothing runs in it.
constexpr std::uint64_t kIdleInstanceBytes = 16 * kMiB;

const MigInstance* instance_of(const Entry& entry, const ProcessEntry& process) {
  const auto number = entry.gpu->number();
  for (const MigInstance* one :
       mig_instances(entry.library->scenario(), number, entry.moment.played_ns)) {
    if (one->number == *process.mig) return one;
  }
  return nullptr;
}

// In which instance a process of the GPU runs, or null.
const MigInstance* place_of(const Entry& entry, ProcessKind kind, const RunningProcess& process) {
  const Scenario& scenario = entry.library->scenario();
  const std::uint32_t number = entry.gpu->number();
  for (const ProcessEntry& scripted : scenario.processes) {
    if (scripted.pid != process.pid || scripted.kind != kind || !scripted.mig) continue;
    if (scripted.gpu && *scripted.gpu != number) continue;
    return instance_of(entry, scripted);
  }
  return main_mig_instance(scenario, number, entry.moment.played_ns);
}

std::uint64_t bytes_of(const MigInstance& mig) {
  return mig.profile->memory_mib * kMiB;
}

// An instance is smaller than the recorded GPU, and so is what a program holds in it.
std::uint64_t scaled(std::uint64_t bytes, const MigInstance& mig) {
  if (bytes == std::numeric_limits<std::uint64_t>::max()) return bytes;
  return bytes / kMemorySlices * mig.profile->memory_slices;
}

std::uint64_t used_in(const Entry& entry, const MigInstance& mig) {
  Entry of_instance = entry;
  of_instance.mig = &mig;
  std::uint64_t used = kIdleInstanceBytes;
  std::vector<std::uint32_t> seen;
  for (const ProcessKind kind :
       {ProcessKind::kCompute, ProcessKind::kGraphics, ProcessKind::kMps}) {
    for (const PlacedProcess& one : processes_of(of_instance, kind)) {
      if (std::ranges::find(seen, one.process.pid) != seen.end()) continue;
      seen.push_back(one.process.pid);
      const std::uint64_t bytes = one.process.memory_bytes;
      if (bytes != std::numeric_limits<std::uint64_t>::max()) used += bytes;
    }
  }
  return std::min(used, bytes_of(mig));
}

Return attributes(Call call, Device device, abi::DeviceAttributes* out) {
  const Entry entry = enter_any(call, device);
  if (entry.outcome) return *entry.outcome;
  if (!entry.mig) return Return::kNotSupported;
  if (!out) return Return::kInvalidArgument;
  const MigProfile& profile = *entry.mig->profile;
  *out = {.multiprocessor_count = profile.multiprocessors,
          .shared_copy_engine_count = profile.copy_engines,
          .shared_decoder_count = profile.decoders,
          .shared_encoder_count = 0,
          .shared_jpeg_count = profile.jpegs,
          .shared_ofa_count = profile.ofas,
          .gpu_instance_slice_count = profile.compute_slices,
          .compute_instance_slice_count = profile.compute_slices,
          .memory_size_mb = profile.memory_mib};
  return Return::kSuccess;
}

template <typename Value>
Return of_instance(Call call, Device device, unsigned* out, Value value) {
  const Entry entry = enter_any(call, device);
  if (entry.outcome) return *entry.outcome;
  if (!entry.mig) return Return::kNotSupported;
  if (!out) return Return::kInvalidArgument;
  *out = value(*entry.mig);
  return Return::kSuccess;
}

}  // namespace

bool is_mig_on(const Entry& entry) {
  return is_mig_on(entry.library->scenario(), entry.gpu->number(), entry.moment.played_ns);
}

std::string name_of(const Entry& entry) {
  const std::string name(entry.gpu->profile().name);
  return entry.mig ? name + " MIG " + std::string(entry.mig->profile->name) : name;
}

const std::string& uuid_of(const Entry& entry) {
  return entry.mig ? entry.mig->uuid : entry.gpu->uuid();
}

MemoryUse memory_of(const Entry& entry) {
  if (entry.mig) {
    return {.total_bytes = bytes_of(*entry.mig), .used_bytes = used_in(entry, *entry.mig)};
  }
  const std::int64_t played_ns = entry.moment.played_ns;
  MemoryUse use{.total_bytes = entry.gpu->read_u64(Column::kFbTotal, played_ns),
                .reserved_bytes = entry.gpu->read_u64(Column::kFbReserved, played_ns),
                .used_bytes = entry.gpu->read_u64(Column::kFbUsed, played_ns)};
  if (!is_mig_on(entry)) return use;
  use.used_bytes = 0;
  for (const MigInstance* mig :
       mig_instances(entry.library->scenario(), entry.gpu->number(), played_ns)) {
    use.used_bytes += used_in(entry, *mig);
  }
  return use;
}

MemoryUse bar1_of(const Entry& entry) {
  const std::int64_t played_ns = entry.moment.played_ns;
  const std::uint64_t total = entry.gpu->read_u64(Column::kBar1Total, played_ns);
  const std::uint64_t used = entry.gpu->read_u64(Column::kBar1Used, played_ns);
  if (!entry.mig) return {.total_bytes = total, .used_bytes = used};
  const bool is_main =
      entry.mig == main_mig_instance(entry.library->scenario(), entry.gpu->number(), played_ns);
  return {.total_bytes = scaled(total, *entry.mig),
          .used_bytes = is_main ? scaled(used, *entry.mig) : 0};
}

std::vector<PlacedProcess> processes_of(const Entry& entry, ProcessKind kind) {
  std::vector<PlacedProcess> placed;
  const bool is_on = is_mig_on(entry);
  for (const RunningProcess& process : entry.gpu->processes(kind, entry.moment.played_ns)) {
    const MigInstance* mig = is_on ? place_of(entry, kind, process) : nullptr;
    if (is_on && !mig) continue;
    if (entry.mig && mig != entry.mig) continue;
    placed.push_back({process, mig});
    if (mig) placed.back().process.memory_bytes = scaled(process.memory_bytes, *mig);
  }
  return placed;
}

namespace driver {

Return nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  const Entry entry = enter("nvmlDeviceGetMigMode", device);
  if (entry.outcome) return *entry.outcome;
  if (!current || !pending) return Return::kInvalidArgument;
  *current = *pending = is_mig_on(entry) ? 1 : 0;
  return Return::kSuccess;
}

Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* out) {
  return give("nvmlDeviceGetMaxMigDeviceCount", device, out,
              [](Gpu&, const Moment&) { return kComputeSlices; });
}

Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* out) {
  const Entry entry = enter("nvmlDeviceGetMigDeviceHandleByIndex", device);
  if (entry.outcome) return *entry.outcome;
  if (!out || index >= kComputeSlices) return Return::kInvalidArgument;
  const std::vector<const MigInstance*> instances =
      mig_instances(entry.library->scenario(), entry.gpu->number(), entry.moment.played_ns);
  if (index >= instances.size()) return Return::kNotFound;
  *out = Library::handle_of(*instances[index]);
  return Return::kSuccess;
}

Return nvmlDeviceGetGpuInstanceId(Device device, unsigned* out) {
  return of_instance("nvmlDeviceGetGpuInstanceId", device, out,
                     [](const MigInstance& mig) { return mig.gpu_instance_id; });
}
// Each GPU instance has one compute instance, which is all of it.
Return nvmlDeviceGetComputeInstanceId(Device device, unsigned* out) {
  return of_instance("nvmlDeviceGetComputeInstanceId", device, out,
                     [](const MigInstance&) { return 0u; });
}

Return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device device, Device* out) {
  const Entry entry = enter_any("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", device);
  if (entry.outcome) return *entry.outcome;
  if (!entry.mig || !out) return Return::kInvalidArgument;
  *out = Library::handle_of(*entry.gpu);
  return Return::kSuccess;
}

Return nvmlDeviceIsMigDeviceHandle(Device device, unsigned* out) {
  const Entry entry = enter_any("nvmlDeviceIsMigDeviceHandle", device);
  if (entry.outcome) return *entry.outcome;
  if (!out) return Return::kInvalidArgument;
  *out = entry.mig ? 1 : 0;
  return Return::kSuccess;
}

Return nvmlDeviceGetAttributes_v2(Device device, abi::DeviceAttributes* out) {
  return attributes("nvmlDeviceGetAttributes_v2", device, out);
}
Return nvmlDeviceGetAttributes(Device device, abi::DeviceAttributes* out) {
  return attributes("nvmlDeviceGetAttributes", device, out);
}

}  // namespace driver
}  // namespace everywatt::sim
