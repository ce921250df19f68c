// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/recorder/read_everything.h"
#include "record/recorder/reseal.h"
#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

void read_image(std::span<const std::byte> image) {
  const auto reader = open_image(image);
  if (reader) static_cast<void>(read_everything(**reader));
}

}  // namespace
}  // namespace everywatt::recorder

// Any bytes as a recorder file: once as they are, and once with check words that are right, or
// hardly anything would come past those.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace everywatt::recorder;
  if (size == 0) return 0;
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  std::vector<std::byte> image(first, first + size);
  read_image(image);
  reseal(image);
  read_image(image);
  return 0;
}
