// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>

#include "catalog/row.h"
#include "record/recorder/writer.h"
#include "record/sampler/same_gpu.h"

namespace everywatt::sampler {

// The XIDs of one GPU by code: a row at start, so that a first error shows as a rise from 0, and
// one at each XID. Goes on where the ring ends. Any thread.
class FaultCounts {
 public:
  explicit FaultCounts(recorder::Writer writer);

  // Writes the row of the start; another GPU in this slot starts at 0.
  void begin(GpuIs gpu, std::int64_t now_ns);
  void add(std::uint64_t xid, std::int64_t now_ns);

 private:
  void append(std::int64_t now_ns);

  std::mutex mutex_;
  recorder::Writer writer_;
  catalog::Row row_;
};

}  // namespace everywatt::sampler
