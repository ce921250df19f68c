// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace everywatt::host {

// A file as the kernel names it in maps.
struct FileNumber {
  unsigned device_major = 0;
  unsigned device_minor = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const FileNumber&, const FileNumber&) = default;
};

// The file that a descriptor is open on.
base::Result<FileNumber> read_file_number(int fd);

// Memory of a process in RAM, where a page that n processes share counts as 1/n of itself.
struct ProportionalMemory {
  std::uint64_t total_bytes = 0;
  std::uint64_t file_bytes = 0;  // the part that maps one of the files asked for
};

// From the text of /proc/PID/smaps. kCorrupt when no mapping is in it.
base::Result<ProportionalMemory> parse_proportional_memory(std::string_view smaps,
                                                           std::span<const FileNumber> files);

}  // namespace everywatt::host
