// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/nvml/abi.h"
#include "device/sim/gpm_clock.h"
#include "device/sim/gpu_trace.h"
#include "device/sim/profile.h"
#include "device/sim/scenario.h"

namespace everywatt::sim {

// One process that a simulated GPU lists.
struct RunningProcess {
  std::uint32_t pid = 0;
  std::uint64_t memory_bytes = 0;
  ListedProcess usage;
};

// One slot of the driver's process sample buffer.
struct ProcessSample {
  std::int64_t played_ns = 0;
  RunningProcess process;
};

// A GPU that plays a trace: what it would tell at a played time. Knows nothing of calls and return
// codes. Everything but take_list_growth() is const and safe from any thread. Refers to the
// scenario.
class Gpu {
 public:
  Gpu(std::uint32_t number, const Scenario& scenario, std::shared_ptr<const GpuTrace> trace,
      const Loop& loop);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  std::uint32_t number() const { return number_; }
  const Profile& profile() const { return profile_; }
  const DeviceEntry& entry() const { return entry_; }
  const std::string& uuid() const { return uuid_; }
  const std::string& serial() const { return serial_; }
  std::uint32_t pci_bus() const;
  const GpmClock& gpm() const { return gpm_; }

  // A reading at a played time, in the trace's units. Counters go on over the laps.
  std::int64_t read(Column column, std::int64_t played_ns) const;
  std::uint64_t read_u64(Column column, std::int64_t played_ns) const {
    return static_cast<std::uint64_t>(read(column, played_ns));
  }
  unsigned read_u32(Column column, std::int64_t played_ns) const {
    return static_cast<unsigned>(read(column, played_ns));
  }

  std::vector<RunningProcess> processes(ProcessKind kind, std::int64_t played_ns) const;

  // The newest samples of process utilization taken after `since_ns` and until `played_ns`, oldest
  // first.
  std::vector<ProcessSample> process_samples(std::int64_t since_ns, std::int64_t played_ns) const;

  // True as often as the scenario lets a list grow between two calls.
  bool take_list_growth() { return growths_left_.load() > 0 && growths_left_.fetch_sub(1) > 0; }

 private:
  std::int64_t recorded(Column column, std::int64_t played_ns) const;
  std::vector<RunningProcess> scripted_processes(ProcessKind kind, std::int64_t played_ns) const;
  // The sample of the newest whole second.
  void append_scripted_samples(std::int64_t since_ns, std::int64_t played_ns,
                               std::vector<ProcessSample>& samples) const;
  std::uint32_t pid_of(std::uint32_t ordinal, const Position& position) const;

  const std::uint32_t number_;
  const Scenario& scenario_;
  const DeviceEntry& entry_;
  const Profile& profile_;
  const std::shared_ptr<const GpuTrace> trace_;
  const Loop loop_;
  const GpmClock gpm_;
  const std::string uuid_;
  const std::string serial_;
  std::vector<std::uint32_t> spanning_;  // ordinals of the processes that live on from lap to lap
  std::atomic<std::int32_t> growths_left_;
};

// The ordinals of the processes that live on from lap to lap: listed at the loop's begin and at its
// end.
std::vector<std::uint32_t> spanning_processes(const GpuTrace& trace, const Loop& loop);

// The UUID of the simulated GPU with that number: fixed, so that tests and recordings can name it.
std::string simulated_uuid(std::uint32_t number);

}  // namespace everywatt::sim
