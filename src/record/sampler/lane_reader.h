// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "catalog/row.h"
#include "device/nvml/source.h"

namespace everywatt::sampler {

// Reads the sources of one lane of one device into rows, each when it is due: its cells are
// not_read in the rows between. A source that the device does not support, or that we may not read,
// is remembered and tried again rarely; its reason stands in the rows meanwhile. One thread.
class LaneReader {
 public:
  explicit LaneReader(catalog::Lane lane);

  // Fills `row`, of the lane, whose time is set. A source is due when less than half of
  // `lane_period_ns` is left of its period.
  void read(nvml::Device& device, std::int64_t lane_period_ns, catalog::Row& row);
  // All sources are due and nothing is remembered: the device or the driver is another one.
  void reset();

 private:
  struct Plan {
    const nvml::Source* source = nullptr;
    std::int64_t next_ns = 0;
    catalog::State absence = catalog::State::kOk;  // remembered, else kOk
    std::int64_t retry_ns = 0;
  };
  std::vector<Plan> plans_;
};

}  // namespace everywatt::sampler
