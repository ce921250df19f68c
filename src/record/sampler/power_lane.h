// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "catalog/row.h"
#include "device/nvml/power_samples.h"
#include "record/recorder/writer.h"
#include "record/sampler/totals.h"

namespace everywatt::sampler {

// Lane kPower: drains the driver's power buffer and writes a row a sample, with the sample's own
// time on boottime. A sample is written once, and rows stay in order of time over steps of the wall
// clock. A GPU without the buffer gets one row that says so. One thread.
class PowerLane {
 public:
  explicit PowerLane(recorder::Writer writer);

  // `now_wall_ns` and `now_ns` are one moment on the two clocks. Returns the rows with a value.
  unsigned drain(nvml::Device& device, std::int64_t now_ns, std::int64_t now_wall_ns,
                 Totals& totals);
  // Whether the GPU was asked and has no such buffer.
  bool is_absent() const { return absence_ != catalog::State::kOk; }
  void reset();
  void write_absent(catalog::State why, std::int64_t now_ns);

 private:
  nvml::PowerSamples samples_;
  recorder::Writer writer_;
  catalog::Row row_;
  std::vector<nvml::PowerSample> drained_;
  std::int64_t newest_ns_ = 0;
  catalog::State absence_ = catalog::State::kOk;
  std::int64_t retry_ns_ = 0;
};

}  // namespace everywatt::sampler
