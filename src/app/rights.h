// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/result.h"

// What each part of the daemon may still do. As an ordinary user there is nothing to give away but
// the way back: no_new_privs.
namespace everywatt::app {

// The user as which server and courier run when we are root: `everywatt`, or where there is none,
// nobody.
struct ServerUser {
  uid_t uid = 0;
  gid_t gid = 0;
};
ServerUser find_server_user();

// The sampler keeps the user: the driver decides by it what may be read.
base::Status drop_sampler_rights();
// It costs too little to hold anybody up, and is of use only in time: before all others where we
// may (root), else as everybody. Threads that start later inherit it.
void prefer_sampler();
// The host process keeps reading: other users' /proc, the kernel log, files of any owner.
base::Status drop_host_rights();
// The server keeps nothing.
base::Status drop_server_rights();
// For a process that knows secrets: others of its user cannot look into it, and it leaves no core
// behind. Its own /proc/self is closed to it.
void hide_memory();
// The courier keeps nothing either, and hides its memory.
base::Status drop_courier_rights();

}  // namespace everywatt::app
