// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/sim/gpu_trace.h"
#include "device/sim/host_trace.h"
#include "device/sim/playhead.h"
#include "device/sim/scenario.h"
#include "device/trace/owner.h"

namespace everywatt::sim {

// A file or a symbolic link of the fake host root.
struct ImageFile {
  enum class Kind { kFile, kLink };
  std::string content;  // of a link: where it leads
  Kind kind = Kind::kFile;
  friend bool operator==(const ImageFile&, const ImageFile&) = default;
};
// By path below the root, without a leading slash.
using HostImage = std::map<std::string, ImageFile>;

// When the machine that is played came up, in the two clocks that its files speak of.
struct BootTimes {
  std::int64_t uptime_ns = 0;  // at played time 0
  std::int64_t wall_ns = 0;    // at played time 0
};

// What one trace contributes to the machine.
struct PlayedJob {
  GpuTrace gpu;
  HostTrace host;
  trace::Owner owner;
  Loop loop;
  std::vector<std::uint32_t> spanning;  // see spanning_processes()
};

// The machine around the simulated GPUs: /proc, /sys and /etc as its files would be at a played
// time. It has 16 CPUs for each job, because each job was recorded alone on 16. Immutable.
class PlayedHost {
 public:
  // Reads the traces and owners of all devices of a scenario.
  static base::Result<PlayedHost> open(const Scenario& scenario);
  PlayedHost(std::vector<PlayedJob> jobs, Scenario scenario)
      : jobs_(std::move(jobs)), scenario_(std::move(scenario)) {}

  HostImage image(std::int64_t played_ns, const BootTimes& boot) const;
  const std::vector<PlayedJob>& jobs() const { return jobs_; }
  const Scenario& scenario() const { return scenario_; }

 private:
  std::vector<PlayedJob> jobs_;
  Scenario scenario_;
};

// The parts of the image; each adds its files.
void add_machine(const std::vector<PlayedJob>& jobs, std::int64_t played_ns, const BootTimes& boot,
                 HostImage& image);
void add_job(const PlayedJob& job, std::uint32_t gpu, std::int64_t played_ns, const BootTimes& boot,
             HostImage& image);
void add_script(const Scenario& scenario, std::int64_t played_ns, const BootTimes& boot,
                HostImage& image);

}  // namespace everywatt::sim
