// SPDX-License-Identifier: Apache-2.0
#include "device/host/identity_key.h"

namespace everywatt::host {
namespace {

// splitmix64's finishing steps: every bit of the input moves half of the output's.
std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9;
  value ^= value >> 27;
  value *= 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

std::uint64_t identity_key(std::string_view boot_id, std::uint32_t pid, std::uint64_t start_ticks) {
  std::uint64_t key = 0x9e3779b97f4a7c15;
  for (const char c : boot_id)
    key = mix(key + static_cast<unsigned char>(c));
  key = mix(key + pid);
  key = mix(key + start_ticks);
  return key == 0 ? 1 : key;
}

}  // namespace everywatt::host
