// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/arguments.h"
#include "app/exit_code.h"
#include "base/result.h"

// One function a command: does it, prints what it shows to stdout, and says how it went. An error
// is for the caller to print: one line.
namespace everywatt::app {

base::Result<ExitCode> run_catalog(const Arguments& arguments);

}  // namespace everywatt::app
