// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "record/recorder/reader.h"

// For tests and fuzzers of hostile files.
namespace everywatt::recorder {

struct Everything {
  std::uint64_t rows = 0;
  std::uint64_t damaged = 0;
  std::uint64_t devices = 0;
};

// Asks a reader for all that it has, in every way that it can be asked.
inline Everything read_everything(const Reader& reader) {
  Everything met;
  for (std::uint32_t slot = 0; slot < reader.device_count(); ++slot) {
    static_cast<void>(reader.device(slot));
  }
  met.devices = reader.devices().size();
  static_cast<void>(reader.boot_id());
  for (std::uint32_t ring = 0; ring < reader.ring_count(); ++ring) {
    const Ring& shape = reader.ring(ring);
    catalog::Row row(shape.scope, shape.lane);
    Reader::Cell cell;
    const std::uint64_t end = reader.published(ring);
    for (std::uint64_t n = reader.oldest(ring); n < end; ++n) {
      const RowState state = reader.read(ring, n, row);
      met.rows += state == RowState::kOk ? 1 : 0;
      met.damaged += state == RowState::kDamaged ? 1 : 0;
      for (const catalog::MetricId id : catalog::schema(shape.scope, shape.lane).metrics) {
        const catalog::Metric& metric = catalog::metric(id);
        if (metric.type == catalog::Type::kText) {
          static_cast<void>(row.text(id, metric.instances - 1U));
        } else {
          static_cast<void>(reader.read_cell(ring, n, id, metric.instances - 1U, cell));
        }
      }
    }
    static_cast<void>(reader.lower_bound(ring, row.time_ns));
  }
  return met;
}

}  // namespace everywatt::recorder
