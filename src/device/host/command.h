// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace everywatt::host {

// How much of a process's command line is kept.
enum class CommandStyle {
  kName,      // program and script: "python train.py", "python -m torch.distributed.run"
  kRedacted,  // and the names of options: "python train.py --lr *** --epochs=*** ***"
  kFull,      // all arguments; what looks secret is replaced by *** here too
};

// At most this many bytes of a command are kept.
inline constexpr std::size_t kCommandBytes = 512;

// A command for people from the content of /proc/PID/cmdline (arguments ended by zero bytes).
// Cleaned: valid UTF-8, no control characters. "" when `cmdline` is empty (kernel thread, zombie).
std::string format_command(std::string_view cmdline, CommandStyle style);

}  // namespace everywatt::host
