// SPDX-License-Identifier: Apache-2.0
#include "device/sim/garbage.h"

#include <bit>
#include <cstring>
#include <string_view>

namespace everywatt::sim {
namespace {

constexpr std::uint64_t kNanBits = 0x7ff8'0000'0000'0000;
constexpr std::uint64_t kHugeNumber = 1'000'000'000'000'000'000;
constexpr std::string_view kUglyText = "\"\n\\\x1b[31m{%s}\xff\xc3(,=#\t'";

// SplitMix64: a different word for each of the seeds that follow one another.
std::uint64_t mixed(std::uint64_t seed) {
  seed += 0x9e37'79b9'7f4a'7c15;
  seed = (seed ^ (seed >> 30)) * 0xbf58'476d'1ce4'e5b9;
  seed = (seed ^ (seed >> 27)) * 0x94d0'49bb'1331'11eb;
  return seed ^ (seed >> 31);
}

std::uint64_t word(Garbage kind, std::size_t place, std::uint64_t seed) {
  switch (kind) {
    case Garbage::kOnes:
      return ~std::uint64_t{0};
    case Garbage::kZeros:
      return 0;
    case Garbage::kRandom:
      return mixed(seed * 1'000 + place);
    case Garbage::kNan:
      return kNanBits;
    case Garbage::kHuge:
      return kHugeNumber;
    case Garbage::kText:
      break;
  }
  char text[sizeof(std::uint64_t)];
  for (std::size_t i = 0; i < sizeof text; ++i)
    text[i] = kUglyText[(place * sizeof text + i) % kUglyText.size()];
  return std::bit_cast<std::uint64_t>(text);
}

}  // namespace

void fill_garbage(Garbage kind, void* memory, std::size_t size, std::uint64_t seed) {
  auto* bytes = static_cast<unsigned char*>(memory);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t bits = word(kind, at / sizeof bits, seed);
    std::memcpy(bytes + at, &bits, size - at < sizeof bits ? size - at : sizeof bits);
  }
}

double garbage_number(Garbage kind, std::uint64_t seed) {
  return kind == Garbage::kHuge ? 1e300 : std::bit_cast<double>(word(kind, 0, seed));
}

}  // namespace everywatt::sim
