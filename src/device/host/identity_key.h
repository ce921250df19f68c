// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace everywatt::host {

// One number for one process of one boot, never 0, the same whoever computes it: a pid is used
// again, a pid with its start and its boot is not.
std::uint64_t identity_key(std::string_view boot_id, std::uint32_t pid, std::uint64_t start_ticks);

}  // namespace everywatt::host
