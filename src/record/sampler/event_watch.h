// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "device/nvml/events.h"
#include "record/sampler/gpu_list.h"

namespace everywatt::sampler {

// Waits for the driver's events and passes each to its GPU, until asked to stop (noticed within
// half a second). Errors of the wait slow it down and are logged once; the wait goes on, since only
// a success or a timeout proves that the stream is alive.
void watch_events(nvml::EventSet& events, const GpuList& gpus, const std::stop_token& stop);

// Makes the blocking PCIe call for each GPU that wants it, every periods.pcie_ns, until asked to
// stop. Its calls are counted in `tally`; its breadcrumbs lie in the sampler's own slot.
void watch_pcie(nvml::Library& library, const GpuList& gpus, const Shared& shared, Tally& tally,
                const std::stop_token& stop);

// Sleeps, but not beyond the request to stop.
void pause(std::int64_t duration_ns, const std::stop_token& stop);

}  // namespace everywatt::sampler
