// SPDX-License-Identifier: Apache-2.0
#include "device/sim/mig_shapes.h"

#include <algorithm>
#include <array>

namespace everywatt::sim {
namespace {

// Where an instance of so many memory slices may begin.
constexpr unsigned kAnywhere = 0b111'1111;  // 0 ... 6
constexpr unsigned kEvery2 = 0b101'0101;    // 0, 2, 4, 6
constexpr unsigned kFirst3Of2 = 0b001'0101;
constexpr unsigned kHalves = 0b001'0001;
constexpr unsigned kStart = 0b000'0001;

constexpr std::array kA100Of40 = {
    MigProfile{"1g.5gb", 1, 1, 4'864, 14, 1, 0, 0, 0, 7, kAnywhere},
    MigProfile{"1g.5gb+me", 1, 1, 4'864, 14, 1, 1, 1, 1, 1, kAnywhere},
    MigProfile{"1g.10gb", 1, 2, 9'856, 14, 1, 1, 0, 0, 4, kEvery2},
    MigProfile{"2g.10gb", 2, 2, 9'984, 28, 2, 1, 0, 0, 3, kFirst3Of2},
    MigProfile{"3g.20gb", 3, 4, 20'096, 42, 3, 2, 0, 0, 2, kHalves},
    MigProfile{"4g.20gb", 4, 4, 20'096, 56, 4, 2, 0, 0, 1, kStart},
    MigProfile{"7g.40gb", 7, 8, 40'448, 98, 7, 5, 1, 1, 1, kStart},
};

constexpr std::array kA100Of80 = {
    MigProfile{"1g.10gb", 1, 1, 9'728, 14, 1, 0, 0, 0, 7, kAnywhere},
    MigProfile{"1g.10gb+me", 1, 1, 9'728, 14, 1, 1, 1, 1, 1, kAnywhere},
    MigProfile{"1g.20gb", 1, 2, 19'968, 14, 1, 1, 0, 0, 4, kEvery2},
    MigProfile{"2g.20gb", 2, 2, 19'968, 28, 2, 1, 0, 0, 3, kFirst3Of2},
    MigProfile{"3g.40gb", 3, 4, 40'448, 42, 3, 2, 0, 0, 2, kHalves},
    MigProfile{"4g.40gb", 4, 4, 40'448, 56, 4, 2, 0, 0, 1, kStart},
    MigProfile{"7g.80gb", 7, 8, 81'152, 98, 7, 5, 1, 1, 1, kStart},
};

constexpr std::array kH100Of80 = {
    MigProfile{"1g.10gb", 1, 1, 9'984, 16, 1, 1, 1, 0, 7, kAnywhere},
    MigProfile{"1g.10gb+me", 1, 1, 9'984, 16, 1, 1, 1, 1, 1, kAnywhere},
    MigProfile{"1g.20gb", 1, 2, 20'096, 26, 1, 1, 1, 0, 4, kEvery2},
    MigProfile{"2g.20gb", 2, 2, 20'096, 32, 2, 2, 2, 0, 3, kFirst3Of2},
    MigProfile{"3g.40gb", 3, 4, 40'448, 60, 3, 3, 3, 0, 2, kHalves},
    MigProfile{"4g.40gb", 4, 4, 40'448, 64, 4, 4, 4, 0, 1, kStart},
    MigProfile{"7g.80gb", 7, 8, 81'152, 132, 8, 7, 7, 1, 1, kStart},
};

constexpr std::array kH200Of141 = {
    MigProfile{"1g.18gb", 1, 1, 16'384, 16, 1, 1, 1, 0, 7, kAnywhere},
    MigProfile{"1g.18gb+me", 1, 1, 16'384, 16, 1, 1, 1, 1, 1, kAnywhere},
    MigProfile{"1g.35gb", 1, 2, 33'280, 26, 1, 1, 1, 0, 4, kEvery2},
    MigProfile{"2g.35gb", 2, 2, 33'280, 32, 2, 2, 2, 0, 3, kFirst3Of2},
    MigProfile{"3g.71gb", 3, 4, 71'168, 60, 3, 3, 3, 0, 2, kHalves},
    MigProfile{"4g.71gb", 4, 4, 71'168, 64, 4, 4, 4, 0, 1, kStart},
    MigProfile{"7g.141gb", 7, 8, 143'360, 132, 8, 7, 7, 1, 1, kStart},
};

struct Shape {
  std::string_view gpu_profile;
  std::span<const MigProfile> profiles;
};
constexpr Shape kShapes[] = {
    {"a100-40gb", kA100Of40}, {"a100", kA100Of80}, {"h100", kH100Of80}, {"h200", kH200Of141}};

}  // namespace

std::span<const MigProfile> mig_profiles(std::string_view gpu_profile) {
  for (const Shape& shape : kShapes) {
    if (shape.gpu_profile == gpu_profile) return shape.profiles;
  }
  return {};
}

const MigProfile* find_mig_profile(std::string_view gpu_profile, std::string_view name) {
  const std::span<const MigProfile> profiles = mig_profiles(gpu_profile);
  const auto found = std::ranges::find(profiles, name, &MigProfile::name);
  return found == profiles.end() ? nullptr : &*found;
}

bool is_mig_profile(std::string_view name) {
  return std::ranges::any_of(kShapes, [name](const Shape& shape) {
    return find_mig_profile(shape.gpu_profile, name) != nullptr;
  });
}

}  // namespace everywatt::sim
