// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "catalog/catalog.h"
#include "catalog/row.h"
#include "device/nvml/device.h"

namespace everywatt::nvml {

// What one group of driver calls gives: some metrics of one lane, always read together. To add a
// metric, add its row to the catalog and its cell to a source here.
struct Source {
  std::span<const catalog::MetricId> metrics;
  // Fills the metrics' cells of the row, with values or with the reasons for their absence.
  void (*read)(Device& device, catalog::Row& row);
};

// How often a source is worth reading: the refresh period of its metrics.
std::uint32_t period_ms(const Source& source);

// The sources of a lane in the order of reading: kGauge, kSlow and kOnce. GPM, the power buffer,
// processes and events have windows and cursors and come from classes of their own.
std::span<const Source> sources(catalog::Lane lane);

}  // namespace everywatt::nvml
