// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/sim/mig_shapes.h"
#include "device/sim/scenario.h"

namespace everywatt::sim {

// Gives each instance of the [[mig]] sections its place and numbers (Scenario::mig_instances), and
// adds the events by which the driver tells of changes. What is wrong begins with the line:
// "12: …".
std::optional<std::string> lay_out_migs(Scenario& scenario);

bool is_mig_on(const Scenario& scenario, std::uint32_t gpu, std::int64_t played_ns);

// The instances of a GPU at a moment in the order in which the driver counts them: by the GPU
// instance's number.
std::vector<const MigInstance*> mig_instances(const Scenario& scenario, std::uint32_t gpu,
                                              std::int64_t played_ns);

// The instance in which the trace's own processes run then: the first in the file; null: none.
const MigInstance* main_mig_instance(const Scenario& scenario, std::uint32_t gpu,
                                     std::int64_t played_ns);

// How much of what the GPU's performance counters show is due to this instance. Each instance does
// what the trace's GPU did, its activity times, with its own part of the multiprocessors and of the
// memory.
struct MigShare {
  double multiprocessors = 0;
  double memory = 0;
};
MigShare mig_share(const MigInstance& instance, unsigned multiprocessors_of_gpu);

}  // namespace everywatt::sim
