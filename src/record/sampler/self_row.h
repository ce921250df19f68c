// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "catalog/row.h"
#include "record/recorder/writer.h"
#include "record/sampler/device_lanes.h"

namespace everywatt::sampler {

// Lane kSampling of the sampler's own part: how its threads keep up. A row a second. One thread.
class SelfRow {
 public:
  explicit SelfRow(recorder::Writer writer);

  void write(const Shared& shared, std::int64_t now_ns);

 private:
  recorder::Writer writer_;
  catalog::Row row_;
};

}  // namespace everywatt::sampler
