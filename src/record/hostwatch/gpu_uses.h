// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "catalog/row.h"
#include "record/recorder/reader.h"

namespace everywatt::hostwatch {

// One process on one GPU or MIG instance, as the sampler last listed it.
struct GpuUse {
  std::uint32_t slot = 0;
  std::uint32_t pid = 0;
  std::uint64_t memory_bytes = 0;  // 0 where the driver does not tell

  friend bool operator==(const GpuUse&, const GpuUse&) = default;
};

// Who uses the GPUs, read out of the process lanes that the sampler writes into the same file. A
// GPU that is not read any more (lost, hung) keeps its last listing: its processes are still there,
// and now of special interest. One that was removed in good order has none.
class GpuUses {
 public:
  GpuUses();

  // All uses as of the last whole listing of each GPU, valid until the next call. Costs two atomic
  // loads a GPU unless there is a new listing.
  const std::vector<GpuUse>& read(const recorder::Reader& reader);

 private:
  struct Listing {
    std::uint64_t published = 0;
    std::vector<GpuUse> uses;
  };
  // False: the newest listing is not whole yet.
  bool read_listing(const recorder::Reader& reader, std::uint32_t ring, std::uint64_t end,
                    std::uint32_t slot, std::vector<GpuUse>& uses);

  std::map<std::uint32_t, Listing> listings_;  // by slot
  std::vector<GpuUse> uses_;
  catalog::Row row_;
};

}  // namespace everywatt::hostwatch
