// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace everywatt::courier_link {

// A frame is its length in four bytes, lowest first, and so many bytes. This is the room for a
// notification of 4 MiB and what says whom it is for.
inline constexpr std::size_t kFrameLimitBytes = (std::size_t{4} << 20) + 4096;

// REQUIRES: no more than kFrameLimitBytes.
std::string format_frame(std::string_view bytes);

// Cuts a stream into frames, however it comes in pieces. Keeps no more than one frame and a piece.
class FrameReader {
 public:
  void add(std::string_view piece);
  // The next frame that has come whole; nothing: more is needed. kCorrupt: one that says it is
  // larger than any; nothing that follows can be read.
  base::Result<std::optional<std::string>> next();

 private:
  std::string bytes_;
  std::size_t taken_ = 0;  // of bytes_
};

}  // namespace everywatt::courier_link
