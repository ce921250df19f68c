// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "app/table.h"
#include "base/result.h"

namespace everywatt::app {

// Writes all of it to stdout at once. Ends the program when that is not possible: there is nobody
// to go on for. A reader that went away (a closed pipe) is nobody's fault, kFine; else kUnavailable
// and one line.
void print(std::string_view text);

// One line on stderr: "everywatt: MESSAGE; HINT".
void print_error(const base::Error& error);
void print_note(std::string_view line);

// Headings stand out where stdout is a terminal and its user has not set NO_COLOR.
Emphasis stdout_emphasis();

}  // namespace everywatt::app
