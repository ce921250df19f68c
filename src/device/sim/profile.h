// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace everywatt::sim {

// What kind of GPU plays a trace. A profile changes what the GPU is and can tell, never what was
// recorded: memory, power and clocks stay those of the trace, and so do the limits that they must
// be seen against.
struct Profile {
  std::string_view key;
  std::string_view name;
  std::string_view board_part_number;
  std::string_view vbios_version;
  unsigned architecture;
  int compute_major;
  int compute_minor;
  unsigned cores;
  unsigned multiprocessors;
  unsigned bus_width_bits;
  unsigned pci_device_id;
  unsigned pcie_generation;  // of the GPU
  bool has_gpm;
  unsigned slowdown_celsius;
  unsigned shutdown_celsius;
  unsigned memory_max_celsius;
  unsigned gpu_max_celsius;
  unsigned nvlinks;               // where a scenario gives it some
  unsigned nvlink_version;        // as the driver codes it
  unsigned nvlink_mb_per_second;  // of one link, each way
};

// The profile of that key, or null.
const Profile* profile_by_key(std::string_view key);

// The recorded GPU's size and limits, the same in every profile.
inline constexpr std::uint64_t kMemoryTotalBytes = 143'771ull << 20;
inline constexpr std::uint64_t kBar1TotalBytes = 262'144ull << 20;
inline constexpr unsigned kPowerLimitMw = 700'000;
inline constexpr unsigned kPowerLimitMinMw = 200'000;
inline constexpr unsigned kMaxSmMhz = 1980;
inline constexpr unsigned kMaxVideoMhz = 1545;
inline constexpr unsigned kMaxMemMhz = 3201;
inline constexpr unsigned kPcieWidth = 16;

}  // namespace everywatt::sim
