// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace everywatt::sim {

// The return code that a scenario names: "GPU_IS_LOST", or its number.
std::optional<unsigned> parse_return(std::string_view text);

// What the library says about a return code, in words of our own.
const char* describe_return(unsigned code);

// Hexadecimal digits without their prefix.
std::optional<std::uint64_t> parse_hex(std::string_view digits);

}  // namespace everywatt::sim
