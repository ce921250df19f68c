// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace everywatt::web {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 compute_sha256(std::string_view bytes);

// Bearer tokens, kept as their hashes.
using Tokens = std::vector<Sha256>;

// A file of tokens: one a line, as it is or as sha256:HEX, with or without a name before it; '#'
// begins a comment. `name` is the file's. kInvalidArgument: "NAME:LINE: what is wrong", with
// nothing of the line; a file without a token.
base::Result<Tokens> parse_tokens(std::string_view text, const std::string& name);

// Takes as long for every token.
bool is_one_of(const Tokens& tokens, std::string_view token);

}  // namespace everywatt::web
