// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/sim/scenario.h"

namespace everywatt::sim {

// Fills memory with rubbish of that kind:
//
// - kOnes, kZeros: all bits
// - kRandom: bits that follow from the seed
// - kNan: the bits of doubles that are no numbers
// - kHuge: numbers that fit their type and nothing else: 10^18, in 32 bits 2,808,348,672
// - kText: quotes, line ends, escapes and bytes that are no UTF-8, without an end
void fill_garbage(Garbage kind, void* memory, std::size_t size, std::uint64_t seed);

// The same where a double is wanted: kHuge is 1e300.
double garbage_number(Garbage kind, std::uint64_t seed);

}  // namespace everywatt::sim
