// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"
#include "device/host/root.h"

namespace everywatt::host {

// A descriptor that poll() finds readable once process `pid` has ended. kNotFound: there is no such
// process. kNotSupported: a kernel before 5.3, or a root that is not this machine, whose pids mean
// nothing to the kernel.
base::Result<base::UniqueFd> open_process_end(const Root& root, std::uint32_t pid);

// Whether the kernel knows a process of that number, also one whose folder in /proc is hidden from
// us. False where open_process_end() is kNotSupported.
bool exists_hidden(const Root& root, std::uint32_t pid);

}  // namespace everywatt::host
