// SPDX-License-Identifier: Apache-2.0
#include "serve/courier_link/frame.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/check.h"

namespace everywatt::courier_link {
namespace {

constexpr std::size_t kLengthBytes = 4;

std::size_t parse_length(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

}  // namespace

std::string format_frame(std::string_view bytes) {
  CHECK(bytes.size() <= kFrameLimitBytes);
  std::string frame;
  frame.reserve(kLengthBytes + bytes.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    frame += static_cast<char>(bytes.size() >> (8 * i) & 0xff);
  }
  frame += bytes;
  return frame;
}

void FrameReader::add(std::string_view piece) {
  if (taken_ > 0) {
    bytes_.erase(0, taken_);
    taken_ = 0;
  }
  bytes_ += piece;
}

base::Result<std::optional<std::string>> FrameReader::next() {
  const std::string_view rest = std::string_view(bytes_).substr(taken_);
  if (rest.size() < kLengthBytes) return std::nullopt;
  const std::size_t length = parse_length(rest);
  if (length > kFrameLimitBytes) {
    return base::fail(base::Code::kCorrupt, fmt::format("a frame of {} bytes", length));
  }
  if (rest.size() - kLengthBytes < length) return std::nullopt;
  taken_ += kLengthBytes + length;
  return std::string(rest.substr(kLengthBytes, length));
}

}  // namespace everywatt::courier_link
