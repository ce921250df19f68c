// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace everywatt::app {

// The program: from the words on the command line to the exit code.
int run_program(int argc, char** argv);

}  // namespace everywatt::app
