// SPDX-License-Identifier: Apache-2.0
//
// What a GPU is: names, numbers, modes, and where it sits.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "device/sim/library/driver.h"
#include "device/sim/library/library.h"
#include "device/sim/library/mig.h"
#include "device/sim/machine_state.h"
#include "device/sim/mig_layout.h"

using namespace everywatt::sim;
using abi::Device;
using abi::PciInfo;
using abi::Return;

namespace {

constexpr unsigned kGpusPerSocket = 4;

template <typename Text>
Return give_text(Call call, Device device, char* buffer, unsigned length, Text text) {
  return on_gpu(call, device,
                [&](Gpu& gpu, const Moment&) { return copy_text(text(gpu), buffer, length); });
}

template <typename Value>
Return give_constant(Call call, Device device, unsigned* out, Value value) {
  return give(call, device, out, [&](Gpu& gpu, const Moment&) { return value(gpu); });
}

// Functions before _v3 know the shorter structure only, without the long address at its end.
enum class PciForm { kShort, kWhole };

Return pci_info(Call call, Device device, PciInfo* pci, PciForm form) {
  return on_gpu(call, device, [&](Gpu& gpu, const Moment&) {
    if (!pci) return Return::kInvalidArgument;
    std::snprintf(pci->bus_id_legacy, sizeof pci->bus_id_legacy, "%04X:%02X:00.0", 0u,
                  gpu.pci_bus());
    pci->domain = 0;
    pci->bus = gpu.pci_bus();
    pci->device = 0;
    pci->pci_device_id = gpu.profile().pci_device_id;
    pci->pci_subsystem_id = 0x18be'10de;
    if (form == PciForm::kShort) return Return::kSuccess;
    std::memset(pci->bus_id, 0, sizeof pci->bus_id);
    std::snprintf(pci->bus_id, sizeof pci->bus_id, "%08X:%02X:00.0", 0u, gpu.pci_bus());
    return Return::kSuccess;
  });
}

Return mode(Call call, Device device, unsigned* current, unsigned* pending, Column column) {
  return on_gpu(call, device, [&](Gpu& gpu, const Moment& moment) {
    if (!current || !pending) return Return::kInvalidArgument;
    *current = *pending = gpu.read_u32(column, moment.played_ns);
    return Return::kSuccess;
  });
}

}  // namespace

namespace everywatt::sim::driver {

Return nvmlDeviceGetName(Device device, char* buffer, unsigned length) {
  const Entry entry = enter_any("nvmlDeviceGetName", device);
  if (entry.outcome) return *entry.outcome;
  return copy_text(name_of(entry), buffer, length);
}
Return nvmlDeviceGetUUID(Device device, char* buffer, unsigned length) {
  const Entry entry = enter_any("nvmlDeviceGetUUID", device);
  if (entry.outcome) return *entry.outcome;
  return copy_text(uuid_of(entry), buffer, length);
}
Return nvmlDeviceGetSerial(Device device, char* buffer, unsigned length) {
  return give_text("nvmlDeviceGetSerial", device, buffer, length,
                   [](Gpu& gpu) { return std::string_view(gpu.serial()); });
}
Return nvmlDeviceGetVbiosVersion(Device device, char* buffer, unsigned length) {
  return give_text("nvmlDeviceGetVbiosVersion", device, buffer, length,
                   [](Gpu& gpu) { return gpu.profile().vbios_version; });
}
Return nvmlDeviceGetBoardPartNumber(Device device, char* buffer, unsigned length) {
  return give_text("nvmlDeviceGetBoardPartNumber", device, buffer, length,
                   [](Gpu& gpu) { return gpu.profile().board_part_number; });
}
Return nvmlDeviceGetInforomImageVersion(Device device, char* buffer, unsigned length) {
  return give_text("nvmlDeviceGetInforomImageVersion", device, buffer, length,
                   [](Gpu&) { return std::string_view("G520.0280.00.05"); });
}
Return nvmlDeviceGetGspFirmwareVersion(Device device, char* buffer) {
  const Entry entry = enter("nvmlDeviceGetGspFirmwareVersion", device);
  if (entry.outcome) return *entry.outcome;
  return copy_text(driver_version(entry.library->scenario(), entry.moment.played_ns), buffer,
                   abi::kGspVersionBufferSize);
}

Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  return pci_info("nvmlDeviceGetPciInfo_v3", device, pci, PciForm::kWhole);
}
Return nvmlDeviceGetPciInfo_v2(Device device, PciInfo* pci) {
  return pci_info("nvmlDeviceGetPciInfo_v2", device, pci, PciForm::kShort);
}
Return nvmlDeviceGetPciInfo(Device device, PciInfo* pci) {
  return pci_info("nvmlDeviceGetPciInfo", device, pci, PciForm::kShort);
}

Return nvmlDeviceGetIndex(Device device, unsigned* out) {
  const Entry entry = enter_any("nvmlDeviceGetIndex", device);
  if (entry.outcome) return *entry.outcome;
  if (!out) return Return::kInvalidArgument;
  const Scenario& scenario = entry.library->scenario();
  if (entry.mig) {
    const std::vector<const MigInstance*> all =
        mig_instances(scenario, entry.gpu->number(), entry.moment.played_ns);
    *out = static_cast<unsigned>(std::ranges::find(all, entry.mig) - all.begin());
    return Return::kSuccess;
  }
  // A GPU that goes at this moment is lost.
  const auto index = index_of(scenario, entry.gpu->number(), entry.moment.played_ns);
  if (!index) return Return::kGpuIsLost;
  *out = *index;
  return Return::kSuccess;
}
Return nvmlDeviceGetMinorNumber(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetMinorNumber", device, out,
                       [](Gpu& gpu) { return gpu.number(); });
}
Return nvmlDeviceGetBoardId(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetBoardId", device, out,
                       [](Gpu& gpu) { return gpu.pci_bus() << 8; });
}
Return nvmlDeviceGetMultiGpuBoard(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetMultiGpuBoard", device, out, [](Gpu&) { return 0u; });
}
Return nvmlDeviceGetModuleId(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetModuleId", device, out,
                       [](Gpu& gpu) { return gpu.number() + 1; });
}
Return nvmlDeviceGetBrand(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetBrand", device, out, [](Gpu&) { return abi::brand::kNvidia; });
}
Return nvmlDeviceGetArchitecture(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetArchitecture", device, out,
                       [](Gpu& gpu) { return gpu.profile().architecture; });
}
Return nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  return on_gpu("nvmlDeviceGetCudaComputeCapability", device, [&](Gpu& gpu, const Moment&) {
    if (!major || !minor) return Return::kInvalidArgument;
    *major = gpu.profile().compute_major;
    *minor = gpu.profile().compute_minor;
    return Return::kSuccess;
  });
}
Return nvmlDeviceGetNumGpuCores(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetNumGpuCores", device, out,
                       [](Gpu& gpu) { return gpu.profile().cores; });
}
Return nvmlDeviceGetMemoryBusWidth(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetMemoryBusWidth", device, out,
                       [](Gpu& gpu) { return gpu.profile().bus_width_bits; });
}
Return nvmlDeviceGetNumaNodeId(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetNumaNodeId", device, out,
                       [](Gpu& gpu) { return gpu.number() / kGpusPerSocket % 2; });
}
Return nvmlDeviceGetPersistenceMode(Device device, unsigned* out) {
  return give("nvmlDeviceGetPersistenceMode", device, out, Column::kPersistenceMode);
}
Return nvmlDeviceGetComputeMode(Device device, unsigned* out) {
  return give("nvmlDeviceGetComputeMode", device, out, Column::kComputeMode);
}
Return nvmlDeviceGetDisplayMode(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetDisplayMode", device, out, [](Gpu&) { return 0u; });
}
Return nvmlDeviceGetDisplayActive(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetDisplayActive", device, out, [](Gpu&) { return 0u; });
}
Return nvmlDeviceGetVirtualizationMode(Device device, unsigned* out) {
  return give_constant("nvmlDeviceGetVirtualizationMode", device, out, [](Gpu&) { return 0u; });
}
Return nvmlDeviceGetEccMode(Device device, unsigned* current, unsigned* pending) {
  return mode("nvmlDeviceGetEccMode", device, current, pending, Column::kEccMode);
}

Return nvmlDeviceGetCpuAffinity(Device device, unsigned words, unsigned long* set) {
  return on_gpu("nvmlDeviceGetCpuAffinity", device, [&](Gpu& gpu, const Moment&) {
    if (!set || words == 0) return Return::kInvalidArgument;
    std::fill(set, set + words, 0ul);
    // The 16 CPUs that the player gives this GPU's job.
    const unsigned bit = gpu.number() * 16;
    if (bit / 64 < words) set[bit / 64] = 0xfffful << (bit % 64);
    return Return::kSuccess;
  });
}
Return nvmlDeviceGetMemoryAffinity(Device device, unsigned words, unsigned long* set,
                                   abi::Selector) {
  return on_gpu("nvmlDeviceGetMemoryAffinity", device, [&](Gpu& gpu, const Moment&) {
    if (!set || words == 0) return Return::kInvalidArgument;
    std::fill(set, set + words, 0ul);
    set[0] = 1ul << (gpu.number() / kGpusPerSocket % 2);
    return Return::kSuccess;
  });
}

}  // namespace everywatt::sim::driver
