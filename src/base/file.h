// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace everywatt::base {

// The whole content of a small file, also of one whose size is 0 as in /proc. More than
// `limit_bytes` is kInvalidArgument: no file that we read whole is allowed to eat the memory.
Result<std::string> read_file(const std::string& path, std::size_t limit_bytes = 4u << 20);

// Writes `content` under another name in the same folder and renames it: a reader sees the old file
// or the new one, never half of one.
Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode);

}  // namespace everywatt::base
