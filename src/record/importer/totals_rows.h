// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "catalog/row.h"
#include "record/recorder/writer.h"

namespace everywatt::importer {

// The rows of one ring of the file that is made.
struct RingRows {
  std::uint32_t slot = 0;
  catalog::Lane lane{};
  std::vector<catalog::Row> rows;
};

// Accumulators are written once a second.
inline constexpr std::int64_t kTotalsNs = 1'000'000'000;

// How many rows of accumulators the rings of a GPU make.
std::uint64_t count_totals(std::span<const RingRows> rings, std::uint32_t slot);

// Writes the accumulators that a sampler would have kept of a GPU's other rings. The file must have
// a ring for them.
base::Status write_totals(recorder::File& file, std::span<const RingRows> rings,
                          std::uint32_t slot);

}  // namespace everywatt::importer
