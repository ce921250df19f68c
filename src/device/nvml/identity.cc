// SPDX-License-Identifier: Apache-2.0
//
// Lane kOnce: what a GPU is.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "device/nvml/source_tables.h"

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::MetricId;
using catalog::Row;
using catalog::State;

template <Call kCall, MetricId kMetric, std::size_t kLength>
void read_text(Device& device, Row& row) {
  std::array<char, kLength + 1> text{};
  const Return code = device.call<kCall>(text.data(), static_cast<unsigned>(kLength));
  device.put_text(row, kMetric, code, text.data());
}
template <Call kCall, MetricId kMetric, std::size_t kLength>
constexpr Source text() {
  return {kMetrics<kMetric>, read_text<kCall, kMetric, kLength>};
}

void read_gsp_version(Device& device, Row& row) {
  std::array<char, abi::kGspVersionBufferSize + 1> version{};
  const Return code = device.call<Call::kDeviceGetGspFirmwareVersion>(version.data());
  device.put_text(row, MetricId::gpu_gsp_firmware_version, code, version.data());
}

struct Named {
  unsigned number;
  const char* name;
};
constexpr std::array kArchitectures = {
    Named{abi::architecture::kKepler, "Kepler"},
    Named{abi::architecture::kMaxwell, "Maxwell"},
    Named{abi::architecture::kPascal, "Pascal"},
    Named{abi::architecture::kVolta, "Volta"},
    Named{abi::architecture::kTuring, "Turing"},
    Named{abi::architecture::kAmpere, "Ampere"},
    Named{abi::architecture::kAda, "Ada"},
    Named{abi::architecture::kHopper, "Hopper"},
    Named{abi::architecture::kBlackwell, "Blackwell"},
    Named{abi::architecture::kRubin, "Rubin"},
};
constexpr std::array kBrands = {
    Named{abi::brand::kQuadro, "Quadro"},
    Named{abi::brand::kTesla, "Tesla"},
    Named{abi::brand::kNvs, "NVS"},
    Named{abi::brand::kGrid, "GRID"},
    Named{abi::brand::kGeforce, "GeForce"},
    Named{abi::brand::kTitan, "Titan"},
    Named{abi::brand::kQuadroRtx, "Quadro RTX"},
    Named{abi::brand::kNvidiaRtx, "NVIDIA RTX"},
    Named{abi::brand::kNvidia, "NVIDIA"},
    Named{abi::brand::kGeforceRtx, "GeForce RTX"},
    Named{abi::brand::kTitanRtx, "Titan RTX"},
};

template <std::size_t kCount>
std::string name_of(const std::array<Named, kCount>& names, unsigned number) {
  for (const Named& named : names) {
    if (named.number == number) return named.name;
  }
  return fmt::format("unknown({})", number);
}

void read_brand(Device& device, Row& row) {
  unsigned brand = abi::brand::kUnknown;
  Return code = device.call<Call::kDeviceGetBrand>(&brand);
  if (code == Return::kSuccess && brand == abi::brand::kUnknown) code = Return::kNotSupported;
  device.put_text(row, MetricId::gpu_brand, code, name_of(kBrands, brand).c_str());
}

void read_architecture(Device& device, Row& row) {
  unsigned number = abi::architecture::kUnknown;
  Return code = device.call<Call::kDeviceGetArchitecture>(&number);
  if (code == Return::kSuccess && number == abi::architecture::kUnknown) {
    code = Return::kNotSupported;
  }
  device.put_text(row, MetricId::gpu_architecture, code, name_of(kArchitectures, number).c_str());
}

// The short form is all that the functions before _v3 fill.
const char* address_in(abi::PciInfo& pci) {
  pci.bus_id[abi::kPciBusIdBufferSize - 1] = '\0';
  pci.bus_id_legacy[abi::kPciBusIdLegacyBufferSize - 1] = '\0';
  return pci.bus_id[0] != '\0' ? pci.bus_id : pci.bus_id_legacy;
}

void read_pci(Device& device, Row& row) {
  abi::PciInfo pci{};
  const Return code = device.call<Call::kDeviceGetPciInfo>(&pci);
  device.put_text(row, MetricId::gpu_pci_address, code, address_in(pci));
  device.put(row, MetricId::gpu_pci_device_id, code, pci.pci_device_id);
  device.put(row, MetricId::gpu_pci_subsystem_id, code, pci.pci_subsystem_id);
}

void read_capability(Device& device, Row& row) {
  int major = 0;
  int minor = 0;
  const Return code = device.call<Call::kDeviceGetCudaComputeCapability>(&major, &minor);
  device.put(row, MetricId::gpu_compute_capability_major, code, major);
  device.put(row, MetricId::gpu_compute_capability_minor, code, minor);
}

void read_versions(Device& device, Row& row) {
  std::array<char, abi::kVersionBufferSize + 1> version{};
  Library& library = device.library();
  Return code = library.call<Call::kSystemGetDriverVersion>(device.trace(), version.data(),
                                                            abi::kVersionBufferSize);
  device.put_text(row, MetricId::gpu_driver_version, code, version.data());
  version.fill('\0');
  code = library.call<Call::kSystemGetNvmlVersion>(device.trace(), version.data(),
                                                   abi::kVersionBufferSize);
  device.put_text(row, MetricId::gpu_nvml_version, code, version.data());
  int cuda = 0;
  code = library.call<Call::kSystemGetCudaDriverVersion>(device.trace(), &cuda);
  const std::string text = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
  device.put_text(row, MetricId::gpu_cuda_version, code, text.c_str());
}

// "NVIDIA H100 80GB HBM3 MIG 1g.10gb"
std::string profile_in(std::string_view name) {
  constexpr std::string_view kMark = " MIG ";
  const std::size_t at = name.rfind(kMark);
  return at == name.npos ? std::string{} : std::string(name.substr(at + kMark.size()));
}

void read_mig_identity(Device& device, Row& row) {
  if (!device.is_mig()) {
    row.set_absent(MetricId::gpu_mig_gpu_instance, State::kNotSupported);
    row.set_absent(MetricId::gpu_mig_compute_instance, State::kNotSupported);
    row.set_absent(MetricId::gpu_mig_profile, State::kNotSupported);
    return row.set_absent(MetricId::gpu_mig_parent_uuid, State::kNotSupported);
  }
  unsigned id = 0;
  Return code = device.call<Call::kDeviceGetGpuInstanceId>(&id);
  device.put(row, MetricId::gpu_mig_gpu_instance, code, id);
  code = device.call<Call::kDeviceGetComputeInstanceId>(&id);
  device.put(row, MetricId::gpu_mig_compute_instance, code, id);
  row.set_text(MetricId::gpu_mig_parent_uuid, device.parent_uuid());

  std::array<char, abi::kNameBufferSize + 1> name{};
  code = device.call<Call::kDeviceGetName>(name.data(), abi::kNameBufferSize);
  const std::string profile = profile_in(name.data());
  if (code == Return::kSuccess && profile.empty()) code = Return::kNotSupported;
  device.put_text(row, MetricId::gpu_mig_profile, code, profile.c_str());
}

void read_attributes(Device& device, Row& row) {
  abi::DeviceAttributes attributes{};
  const Return code = device.call<Call::kDeviceGetAttributes>(&attributes);
  device.put(row, MetricId::gpu_sm_count, code, attributes.multiprocessor_count);
}

void read_remote(Device& device, Row& row, unsigned link) {
  abi::PciInfo pci{};
  const Return code = device.call<Call::kDeviceGetNvLinkRemotePciInfo>(link, &pci);
  if (code == Return::kSuccess) {
    return row.set_text(MetricId::gpu_nvlink_remote_address, address_in(pci), link);
  }
  row.set_reading(MetricId::gpu_nvlink_remote_address, catalog::Reading::absent(state_of(code)),
                  link);
}

// A link that the driver cannot tell of is one of those that the GPU has where it can tell of a
// link behind it.
void read_links(Device& device, Row& row) {
  row.set_absent(MetricId::gpu_nvlink_remote_address, State::kNotSupported);
  // The links are the GPU's: an instance has not none, it has no such number.
  if (device.is_mig()) return row.set_absent(MetricId::gpu_nvlink_links, State::kNotSupported);
  Return last = Return::kSuccess;
  unsigned links = 0;
  for (; links < kLinks; ++links) {
    unsigned is_up = 0;
    const Return code = device.call<Call::kDeviceGetNvLinkState>(links, &is_up);
    if (state_of(code) == State::kNotSupported) break;  // behind the last link
    last = code;
    read_remote(device, row, links);
  }
  if (last != Return::kSuccess) {
    device.put(row, MetricId::gpu_nvlink_links, last, links);
    return row.set_absent(MetricId::gpu_nvlink_remote_address, state_of(last));
  }
  row.set(MetricId::gpu_nvlink_links, std::uint64_t{links});
}

constexpr std::array kSources = {
    text<Call::kDeviceGetName, MetricId::gpu_name, abi::kNameBufferSize>(),
    text<Call::kDeviceGetUuid, MetricId::gpu_uuid, abi::kUuidBufferSize>(),
    text<Call::kDeviceGetSerial, MetricId::gpu_serial, abi::kSerialBufferSize>(),
    text<Call::kDeviceGetVbiosVersion, MetricId::gpu_vbios_version, abi::kVbiosBufferSize>(),
    text<Call::kDeviceGetInforomImageVersion, MetricId::gpu_inforom_image_version,
         abi::kPartNumberBufferSize>(),
    text<Call::kDeviceGetBoardPartNumber, MetricId::gpu_board_part_number,
         abi::kPartNumberBufferSize>(),
    Source{kMetrics<MetricId::gpu_gsp_firmware_version>, read_gsp_version},
    Source{kMetrics<MetricId::gpu_brand>, read_brand},
    Source{kMetrics<MetricId::gpu_architecture>, read_architecture},
    Source{kMetrics<MetricId::gpu_pci_address, MetricId::gpu_pci_device_id,
                    MetricId::gpu_pci_subsystem_id>,
           read_pci},
    Source{kMetrics<MetricId::gpu_compute_capability_major, MetricId::gpu_compute_capability_minor>,
           read_capability},
    Source{kMetrics<MetricId::gpu_driver_version, MetricId::gpu_nvml_version,
                    MetricId::gpu_cuda_version>,
           read_versions},
    Source{kMetrics<MetricId::gpu_mig_gpu_instance, MetricId::gpu_mig_compute_instance,
                    MetricId::gpu_mig_profile, MetricId::gpu_mig_parent_uuid>,
           read_mig_identity},
    Source{kMetrics<MetricId::gpu_sm_count>, read_attributes},
    Source{kMetrics<MetricId::gpu_nvlink_links, MetricId::gpu_nvlink_remote_address>, read_links},
    number<Call::kDeviceGetIndex, MetricId::gpu_index>(),
    number<Call::kDeviceGetMinorNumber, MetricId::gpu_minor_number>(),
    number<Call::kDeviceGetBoardId, MetricId::gpu_board_id>(),
    number<Call::kDeviceGetNumGpuCores, MetricId::gpu_cores>(),
    number<Call::kDeviceGetMemoryBusWidth, MetricId::gpu_memory_bus_width_bits>(),
    number<Call::kDeviceGetNumaNodeId, MetricId::gpu_numa_node>(),
    number<Call::kDeviceGetNumFans, MetricId::gpu_fans>(),
};

}  // namespace

std::span<const Source> identity_sources() {
  return kSources;
}

}  // namespace everywatt::nvml
