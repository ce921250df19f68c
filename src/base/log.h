// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace everywatt::base {

enum class LogLevel { kError, kWarning, kNotice, kDebug };

// One line of text for people on stderr: "everywatt[sampler]: warning: ...". Line breaks and
// control characters in `text` are replaced, so that text from outside cannot forge a line.
// Thread-safe. Never waits: a line for which a full pipe has no room is lost.
void log(LogLevel level, std::string_view text);

// The word in brackets, set once at start by each process ("supervisor", "sampler", ...), and the
// most detailed level that is written (default kNotice).
void set_log_role(std::string_view role);
void set_log_level(LogLevel level);

}  // namespace everywatt::base
