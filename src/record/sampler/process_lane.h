// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "catalog/row.h"
#include "device/nvml/processes.h"
#include "record/recorder/writer.h"

namespace everywatt::sampler {

// Lane kProcess of one device: one row a process at each listing, all with one time; the driver's
// utilization samples stand in the first listing after they were drained. One thread.
class ProcessLane {
 public:
  explicit ProcessLane(recorder::Writer writer);

  enum class Samples { kLeave, kDrain };
  // Returns the rows' readings with a value. `now_ns` and `now_wall_ns` are one moment.
  unsigned list(nvml::Device& device, std::int64_t now_ns, std::int64_t now_wall_ns,
                Samples samples);
  void reset();
  // Processes in these GPU instances are listed by the lanes of those instances, not here.
  void leave_to(std::vector<std::uint32_t> gpu_instances) { left_to_ = std::move(gpu_instances); }
  void write_absent(catalog::State why, std::int64_t now_ns);

  // Of the newest listing, with those that are left to instances; empty when there was none.
  std::span<const std::uint32_t> pids() const { return pids_; }

 private:
  void put_sample(const nvml::Process& process, std::int64_t wall_ahead_ns);

  recorder::Writer writer_;
  catalog::Row row_;
  nvml::ProcessSamples samples_;
  std::vector<nvml::ProcessSample> drained_;
  catalog::State sample_state_ = catalog::State::kNotRead;
  std::vector<std::uint32_t> pids_;
  std::vector<std::uint32_t> left_to_;  // GPU instances
};

}  // namespace everywatt::sampler
