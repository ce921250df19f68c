// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <vector>

#include "base/fuzz_target.h"
#include "record/recorder/read_everything.h"
#include "record/recorder/reseal.h"
#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

void read_image(std::span<const std::byte> image) {
  const auto reader = open_image(image);
  if (!reader) return;
  const Everything met = read_everything(**reader);
  CHECK(met.rows <= image.size() / sizeof(Word));
}

}  // namespace

// Any bytes as a recorder file: once as they are, and once with check words that are right, or
// hardly anything would come past those.
FUZZ_TARGET(reader) {
  if (bytes.empty()) return;
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  std::vector<std::byte> image(first, first + bytes.size());
  read_image(image);
  reseal(image);
  read_image(image);
}

}  // namespace everywatt::recorder
