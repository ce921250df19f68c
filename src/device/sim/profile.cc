// SPDX-License-Identifier: Apache-2.0
#include "device/sim/profile.h"

#include "device/nvml/abi.h"

namespace everywatt::sim {
namespace {

constexpr Profile kProfiles[] = {
    {.key = "h200",
     .name = "NVIDIA H200",
     .board_part_number = "692-2G520-0280-001",
     .vbios_version = "96.00.BC.00.01",
     .architecture = nvml::abi::architecture::kHopper,
     .compute_major = 9,
     .compute_minor = 0,
     .cores = 16'896,
     .multiprocessors = 132,
     .bus_width_bits = 6'144,
     .pci_device_id = 0x2335'10de,
     .pcie_generation = 5,
     .has_gpm = true,
     .slowdown_celsius = 92,
     .shutdown_celsius = 97,
     .memory_max_celsius = 105,
     .gpu_max_celsius = 87,
     .nvlinks = 18,
     .nvlink_version = 6,
     .nvlink_mb_per_second = 26'562},
    {.key = "h100",
     .name = "NVIDIA H100 80GB HBM3",
     .board_part_number = "692-2G520-0200-000",
     .vbios_version = "96.00.89.00.01",
     .architecture = nvml::abi::architecture::kHopper,
     .compute_major = 9,
     .compute_minor = 0,
     .cores = 16'896,
     .multiprocessors = 132,
     .bus_width_bits = 5'120,
     .pci_device_id = 0x2330'10de,
     .pcie_generation = 5,
     .has_gpm = true,
     .slowdown_celsius = 89,
     .shutdown_celsius = 94,
     .memory_max_celsius = 95,
     .gpu_max_celsius = 87,
     .nvlinks = 18,
     .nvlink_version = 6,
     .nvlink_mb_per_second = 26'562},
    {.key = "a100",
     .name = "NVIDIA A100-SXM4-80GB",
     .board_part_number = "692-2G506-0210-002",
     .vbios_version = "92.00.9E.00.01",
     .architecture = nvml::abi::architecture::kAmpere,
     .compute_major = 8,
     .compute_minor = 0,
     .cores = 6'912,
     .multiprocessors = 108,
     .bus_width_bits = 5'120,
     .pci_device_id = 0x20b2'10de,
     .pcie_generation = 4,
     .has_gpm = false,
     .slowdown_celsius = 89,
     .shutdown_celsius = 92,
     .memory_max_celsius = 95,
     .gpu_max_celsius = 85,
     .nvlinks = 12,
     .nvlink_version = 4,
     .nvlink_mb_per_second = 25'781},
    {.key = "a100-40gb",
     .name = "NVIDIA A100-SXM4-40GB",
     .board_part_number = "692-2G506-0200-002",
     .vbios_version = "92.00.45.00.03",
     .architecture = nvml::abi::architecture::kAmpere,
     .compute_major = 8,
     .compute_minor = 0,
     .cores = 6'912,
     .multiprocessors = 108,
     .bus_width_bits = 5'120,
     .pci_device_id = 0x20b0'10de,
     .pcie_generation = 4,
     .has_gpm = false,
     .slowdown_celsius = 89,
     .shutdown_celsius = 92,
     .memory_max_celsius = 95,
     .gpu_max_celsius = 85,
     .nvlinks = 12,
     .nvlink_version = 4,
     .nvlink_mb_per_second = 25'781},
};

}  // namespace

const Profile* profile_by_key(std::string_view key) {
  for (const Profile& profile : kProfiles) {
    if (profile.key == key) return &profile;
  }
  return nullptr;
}

}  // namespace everywatt::sim
