// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace everywatt::app {

// Blocks the signals that ask this process to end - SIGTERM, SIGINT, and SIGHUP unless the parent
// ignores it, as nohup does - and returns them: one that comes is kept until somebody waits for it.
// Before the first thread, which inherits it.
sigset_t block_stop_signals();

// A write into a pipe that nobody reads, or beyond the limit on a file's size, is an error of that
// write and does not end the process. Children inherit it.
void survive_failed_writes();

}  // namespace everywatt::app
