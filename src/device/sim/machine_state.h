// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/sim/scenario.h"

// What a scenario makes of the machine at a played time: which GPUs there are and in which order,
// which driver.
namespace everywatt::sim {

bool is_present(const Scenario& scenario, std::uint32_t gpu, std::int64_t played_ns);

// The numbers of the GPUs that are present, in the order in which NVML counts them.
std::vector<std::uint32_t> indexed_gpus(const Scenario& scenario, std::int64_t played_ns);
// NVML's index of a GPU; nothing while it is not present.
std::optional<std::uint32_t> index_of(const Scenario& scenario, std::uint32_t gpu,
                                      std::int64_t played_ns);

std::string driver_version(const Scenario& scenario, std::int64_t played_ns);
std::string nvml_version(const Scenario& scenario, std::int64_t played_ns);

// Why the driver cannot be had then, or null.
const LibraryEntry* library_trouble(const Scenario& scenario, std::int64_t played_ns);

// A number that changes whenever the driver is unloaded or loaded: what was had from it before is
// worth nothing then.
std::uint64_t driver_changes(const Scenario& scenario, std::int64_t played_ns);

}  // namespace everywatt::sim
