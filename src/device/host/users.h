// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "device/host/root.h"

namespace everywatt::host {

// The name of a user in the text of a passwd file.
std::optional<std::string_view> find_user(std::string_view passwd, std::uint32_t user_id);

// The name of a user by /etc/passwd below the root, else the number: users of a directory service
// are not in the file, and asking for them would leave the machine.
std::string read_user(const Root& root, std::uint32_t user_id);

}  // namespace everywatt::host
