// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace everywatt::sim {

// A GPU's memory is cut into so many slices; the eighth belongs to profiles of more than one.
inline constexpr unsigned kMemorySlices = 8;
inline constexpr unsigned kComputeSlices = 7;

// A kind of GPU instance, as the driver lists it for one kind of GPU.
struct MigProfile {
  std::string_view name;  // "3g.71gb"
  unsigned compute_slices;
  unsigned memory_slices;
  std::uint64_t memory_mib;
  unsigned multiprocessors;
  unsigned copy_engines;
  unsigned decoders;
  unsigned jpegs;
  unsigned ofas;
  unsigned most;    // instances of this profile on one GPU
  unsigned places;  // bit n: may begin at memory slice n
};

// The profiles of a GPU with this key (Profile::key), largest last; empty: it cannot do MIG.
std::span<const MigProfile> mig_profiles(std::string_view gpu_profile);
// One of them, or null.
const MigProfile* find_mig_profile(std::string_view gpu_profile, std::string_view name);
// Whether any GPU has a profile of that name.
bool is_mig_profile(std::string_view name);

}  // namespace everywatt::sim
