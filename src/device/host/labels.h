// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace everywatt::host {

// The variables of /proc/PID/environ that say whose work a process does, as "NAME=value" separated
// by blanks, sorted by name: those of Slurm's job (SLURM_JOB_ID, _ACCOUNT, _PARTITION, _NAME,
// _USER, SLURM_STEP_ID) and those named in `chosen`. No other variable leaves this function:
// environments are full of secrets. Values are cleaned, blanks in them become "_", and each is cut
// at 64 bytes.
std::string format_labels(std::string_view environ, std::span<const std::string> chosen);

// One value out of an environment, as it is; "" when it is not there.
std::string_view find_variable(std::string_view environ, std::string_view name);

}  // namespace everywatt::host
