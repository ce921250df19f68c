// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "catalog/row.h"
#include "record/recorder/writer.h"

namespace everywatt::hostwatch {

// How this process keeps up, as it counts itself: lane kSampling of part host.
class SamplingRow {
 public:
  static base::Result<SamplingRow> open(recorder::File& file);

  // A tick of all of this process's lanes began, `late_ns` after its time; `missed` before it were
  // left out.
  void begin_tick(std::int64_t period_ns, std::int64_t late_ns, std::uint64_t missed);
  void add_cpu(catalog::Lane lane, std::int64_t cpu_ns);
  void write(std::int64_t now_ns, std::uint64_t lost_events);

 private:
  double lateness_p99_seconds() const;

  explicit SamplingRow(recorder::Writer writer);

  recorder::Writer writer_;
  catalog::Row row_;
  std::uint64_t ticks_ = 0;
  std::uint64_t late_ticks_ = 0;
  std::uint64_t missed_ticks_ = 0;
  std::int64_t late_max_ns_ = 0;
  std::vector<std::int64_t> late_ns_;  // of the newest ticks, in no order
  std::array<std::int64_t, catalog::kLaneCount> cpu_ns_{};
};

}  // namespace everywatt::hostwatch
