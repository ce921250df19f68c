// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "catalog/row.h"

namespace everywatt::sampler {

// The metrics that had a value in `before` and are not supported in `now`, two rows of one lane:
// what another driver or another set-up took away. Pure.
std::vector<catalog::MetricId> find_lost_metrics(const catalog::Row& before,
                                                 const catalog::Row& now);

// "gpu_fan_speed_ratio, gpu_energy_joules_total and 3 more", short enough for an event.
std::string name_metrics(const std::vector<catalog::MetricId>& metrics);

// How many cells of the row hold a value.
unsigned count_values(const catalog::Row& row);

}  // namespace everywatt::sampler
