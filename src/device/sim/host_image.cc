// SPDX-License-Identifier: Apache-2.0
#include "device/sim/host_image.h"

#include <utility>

#include "device/sim/gpu.h"
#include "device/sim/machine_state.h"

namespace everywatt::sim {

base::Result<PlayedHost> PlayedHost::open(const Scenario& scenario) {
  std::vector<PlayedJob> jobs;
  for (const DeviceEntry& device : scenario.devices) {
    base::Result<GpuTrace> gpu = read_gpu_trace(device.trace);
    if (!gpu) return std::unexpected(gpu.error());
    const std::string name = device.trace.substr(device.trace.rfind('/') + 1);
    const Loop loop = device.loop.value_or(loop_of(name, gpu->last_ns));
    base::Result<HostTrace> host = read_host_trace(device.trace, gpu->last_ns);
    if (!host) return std::unexpected(host.error());
    base::Result<trace::Owner> owner = trace::read_owner(device.trace);
    if (!owner) return std::unexpected(owner.error());
    std::vector<std::uint32_t> spanning = spanning_processes(*gpu, loop);
    jobs.push_back(
        {std::move(*gpu), std::move(*host), std::move(*owner), loop, std::move(spanning)});
  }
  return PlayedHost(std::move(jobs), scenario);
}

HostImage PlayedHost::image(std::int64_t played_ns, const BootTimes& boot) const {
  HostImage image;
  add_machine(jobs_, played_ns, boot, image);
  for (std::uint32_t gpu = 0; gpu < jobs_.size(); ++gpu) {
    // The job of a GPU that is not there has ended with it; what the machine did, it has done.
    if (is_present(scenario_, gpu, played_ns)) add_job(jobs_[gpu], gpu, played_ns, boot, image);
  }
  add_script(scenario_, played_ns, boot, image);
  return image;
}

}  // namespace everywatt::sim
