// SPDX-License-Identifier: Apache-2.0
// libstdc++ and libcrypt call these where the glibc that they were built on has them; the release
// runs on an older one. Linked into each program and shared library, and kept to itself.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" {

void arc4random_buf(void* buffer, std::size_t bytes) {
  // getentropy takes no more at once.
  constexpr std::size_t kMost = 256;
  auto* place = static_cast<unsigned char*>(buffer);
  while (bytes > 0) {
    const std::size_t now = bytes < kMost ? bytes : kMost;
    if (::getentropy(place, now) != 0) std::abort();
    place += now;
    bytes -= now;
  }
}

std::uint32_t arc4random() {
  std::uint32_t number = 0;
  arc4random_buf(&number, sizeof number);
  return number;
}
}
