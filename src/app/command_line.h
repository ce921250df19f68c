// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/arguments.h"
#include "base/result.h"

namespace everywatt::app {

// Reads the words after the program's name. `default_language` holds unless --lang is given, for
// the help and the errors, too. kInvalidArgument: one line that says what is wrong, where, and the
// nearest name that there is.
base::Result<Arguments> parse_command_line(const std::vector<std::string>& words,
                                           Language default_language);

}  // namespace everywatt::app
