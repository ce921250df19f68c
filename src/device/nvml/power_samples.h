// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "device/nvml/device.h"

namespace everywatt::nvml {

struct PowerSample {
  std::int64_t wall_us = 0;  // the driver's stamp
  double watts = 0;          // not range-checked
};

// The driver's buffer of power samples (one each 20.7 ms, the newest 119 on Hopper), drained by
// stamp so that no sample comes twice. One call of 0.4 ms a drain. One thread.
//
// Stamps are wall clock. After a step backwards of the clock nothing is newer than the last stamp
// seen, so the buffer is then read from its begin and what was seen before is left out.
class PowerSamples {
 public:
  // The samples since the last drain, oldest first, into `samples`. kNoNewValue: none.
  // `now_wall_us` is the wall clock now.
  catalog::State drain(Device& device, std::int64_t now_wall_us, std::vector<PowerSample>& samples);

 private:
  std::int64_t last_wall_us_ = 0;
  std::vector<abi::Sample> buffer_;
};

}  // namespace everywatt::nvml
