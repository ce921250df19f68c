// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace everywatt::host {

// The arguments of a command joined by blanks, with *** in place of what looks secret: the values
// of names that speak of tokens, keys and passwords, passwords in addresses, and tokens of the
// forms that well-known services give out. It rather hides too much than too little; what looks
// like any other word is not found.
std::string redact_arguments(std::span<const std::string_view> arguments);

// Arguments that follow a program's name joined by blanks, with *** in place of everything that is
// not the name of an option ("--lr ***", "--epochs=***", "-v", "RANK=***").
std::string redact_values(std::span<const std::string_view> arguments);

}  // namespace everywatt::host
