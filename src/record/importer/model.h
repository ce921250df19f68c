// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace everywatt::importer {

// What a trace does not tell about the GPU that it was recorded on. The size and the limits are
// those of the recorded one in every profile: the readings must fit them.
struct Model {
  std::string_view key;
  std::string_view name;
  std::string_view architecture;
  std::uint64_t compute_major;
  std::uint64_t compute_minor;
  bool has_gpm;
};

std::span<const Model> models();
const Model* find_model(std::string_view key);

inline constexpr std::uint64_t kMemoryTotalBytes = std::uint64_t{143'771} << 20;
inline constexpr double kPowerLimitWatts = 700;
inline constexpr double kPowerLimitMinWatts = 200;

}  // namespace everywatt::importer
