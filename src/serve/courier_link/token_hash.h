// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace everywatt::courier_link {

// SHA-256 in hex. It stands for the token where the token itself is not to be.
std::string hash_token(std::string_view token);

// Takes as long whether they differ at the first or at the last digit.
bool is_same_hash(std::string_view left, std::string_view right);

}  // namespace everywatt::courier_link
