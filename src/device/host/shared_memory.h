// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "device/host/root.h"

namespace everywatt::host {

// A /dev/shm: where data loaders hand batches over, and what they run out of.
struct SharedMemory {
  std::uint64_t size_bytes = 0;
  std::uint64_t used_bytes = 0;
};

// True when the text of a mountinfo file says that /dev/shm is a file system in memory.
bool has_shared_memory(std::string_view mountinfo);

// The one that a process sees. kNoPermission: not allowed to look into the process. kNotSupported:
// it has none. Its mounts are read first: a file system of another kind, which may be at the other
// end of a network, is never asked.
base::Result<SharedMemory> read_shared_memory(const Root& root, std::uint32_t pid);

// The machine's own.
base::Result<SharedMemory> read_shared_memory(const Root& root);

}  // namespace everywatt::host
