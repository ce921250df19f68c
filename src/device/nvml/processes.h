// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/nvml/device.h"

namespace everywatt::nvml {

// How a process uses a GPU: bits of process_type_mask.
inline constexpr std::uint64_t kComputeBit = 1;
inline constexpr std::uint64_t kGraphicsBit = 2;
inline constexpr std::uint64_t kMpsBit = 4;

struct Process {
  std::uint32_t pid = 0;
  std::uint64_t type_mask = 0;
  std::optional<std::uint64_t> memory_bytes;  // nothing: the driver cannot tell
  std::uint32_t gpu_instance_id = abi::kInstanceNone;
};

// All processes on the device, one entry a pid (types joined, the largest memory figure) and MIG
// instance, by pid.
// Three lists, 0.12 ms each; a list that a driver lacks counts as empty as long as another one is
// there. The lists may grow between two calls: each is asked for a few times with more room, then
// its absence is the answer. On a GPU in MIG mode the entries name their instance.
Answer<std::vector<Process>> read_processes(Device& device);

struct ProcessSample {
  std::uint32_t pid = 0;
  std::int64_t wall_us = 0;  // the driver's stamp
  std::optional<double> sm_ratio;
  std::optional<double> memory_controller_ratio;
  std::optional<double> encoder_ratio;
  std::optional<double> decoder_ratio;
};

// The driver's samples of what each process uses, drained by stamp. One thread. 1.9 ms a drain.
class ProcessSamples {
 public:
  // The newest sample of each process since the last drain. kNoNewValue: none of any. Slots that
  // the driver did not fill, and samples seen before, are left out; a share outside 0-100 % is
  // rejected and absent.
  catalog::State drain(Device& device, std::int64_t now_wall_us,
                       std::vector<ProcessSample>& samples);

 private:
  std::int64_t last_wall_us_ = 0;
  std::vector<abi::ProcessUtilizationSample> buffer_;
};

}  // namespace everywatt::nvml
