// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace everywatt::app {

// Has the kernel refuse from now on, in every thread of this process and for good, all system calls
// that the running server does not need. What a server can never rightly ask for - another program,
// another process's memory, mounts, namespaces, kernel modules - kills it at once; everything else
// fails with EPERM. It can still take connections that the listening socket gives it and read
// files, but neither make sockets nor write to files that it has not been given.
//
// To be called when all threads run. The user need not be root; no_new_privs must be set.
// kNotSupported: a kernel without such filters. A build with a sanitizer has no filter: the
// sanitizer's own reports need what is killed here.
base::Status forbid_system_calls_of_server();

// The same for the courier, which speaks to other machines through libraries that need threads,
// sockets and files: all that a running courier can never rightly ask for ends it at once, and it
// can neither take connections nor send signals to or look into other processes. Threads that
// start later inherit it.
base::Status forbid_system_calls_of_courier();

}  // namespace everywatt::app
