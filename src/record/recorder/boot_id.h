// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace everywatt::recorder {

// The kernel's name for one boot of one machine: boottimes compare only within it.
using BootId = std::array<std::uint8_t, 16>;

// This boot's; zeros where the kernel does not tell.
BootId read_boot_id();
// As /proc/sys/kernel/random/boot_id writes it. Zeros from what is not one.
BootId parse_boot_id(std::string_view text);
std::string format_boot_id(const BootId& id);

}  // namespace everywatt::recorder
