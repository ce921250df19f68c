// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "catalog/row.h"
#include "device/nvml/gpm.h"
#include "record/recorder/writer.h"

namespace everywatt::sampler {

// Lane kGpm of one device: one row a window in which the counters moved. Counters that stand still
// while the GPU is busy by another source's account are dead: a row says failed instead of zeros,
// and they are taken up anew from time to time. One thread.
class GpmLane {
 public:
  explicit GpmLane(recorder::Writer writer);

  // Opens the counters; without them a row says why. `device` must stay where it is.
  void begin(nvml::Device& device, std::int64_t now_ns);
  // Lets go of what the driver gave. Needed before the device or the library goes.
  void end();
  bool is_open() const { return gpm_.has_value(); }

  // Takes a sample; when it closes a window whose counters moved, writes its row. Returns that row,
  // else null.
  const catalog::Row* tick(nvml::Device& device, std::int64_t now_ns, nvml::Elsewhere elsewhere);
  void write_absent(catalog::State why, std::int64_t now_ns);

 private:
  void fail(catalog::State why, std::int64_t now_ns);

  recorder::Writer writer_;
  catalog::Row row_;
  std::optional<nvml::Gpm> gpm_;
  std::int64_t still_since_ns_ = 0;  // busy, and no movement since; 0: moving
  std::int64_t retry_ns_ = 0;        // when to open again what is dead or was refused
  bool is_dead_ = false;
  catalog::State absence_ = catalog::State::kOk;  // written last
  std::int64_t absence_ns_ = 0;
};

}  // namespace everywatt::sampler
