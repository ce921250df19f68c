// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "record/recorder/reader.h"
#include "record/recorder/writer.h"

// For this room's tests: files as small as they come.
namespace everywatt::recorder {

inline constexpr std::uint32_t kSmallFileGpu = 0;

// One GPU with rings of `capacity` rows in the lanes gauge and power.
inline LayoutOptions small_layout(std::uint64_t capacity) {
  return {.devices = {{.scope = catalog::Scope::kGpu}},
          .rings = {{.device = kSmallFileGpu, .lane = catalog::Lane::kGauge, .capacity = capacity},
                    {.device = kSmallFileGpu, .lane = catalog::Lane::kPower, .capacity = capacity}},
          .origin = Origin{.boot_id = {1, 2, 3}, .created_ns = 1'000, .created_wall_ns = 5'000}};
}

inline base::UniqueFd duplicate(int fd) {
  return base::UniqueFd(::dup(fd));
}

inline std::unique_ptr<Reader> read_of(const File& file) {
  return Reader::adopt(duplicate(file.fd()), "the test's file").value();
}

}  // namespace everywatt::recorder
