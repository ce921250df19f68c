// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace everywatt::app {

// What a script learns from every command.
enum ExitCode : int {
  kFine = 0,
  kNeedsLook = 1,    // a finding or state that needs a look, or an absent metric
  kBadUsage = 2,     // bad usage or input
  kUnavailable = 3,  // nothing to talk to: no daemon, no GPU, no permission
};

// Which of them an error means: what the user gave is wrong, or what is there.
ExitCode exit_code(base::Code code);

}  // namespace everywatt::app
