// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "device/nvml/throughput.h"
#include "record/recorder/writer.h"
#include "record/sampler/event_log.h"
#include "record/sampler/gpm_lane.h"
#include "record/sampler/gpm_policy.h"
#include "record/sampler/lane_reader.h"
#include "record/sampler/power_lane.h"
#include "record/sampler/process_lane.h"
#include "record/sampler/sampler.h"
#include "record/sampler/tally.h"
#include "record/sampler/throttle.h"
#include "record/sampler/ticker.h"
#include "record/sampler/totals.h"

namespace everywatt::sampler {

// The tallies of all threads and devices, for who sums them up. They live as long as the book.
class TallyBook {
 public:
  Tally& add();
  // Calls `visit` with each of them.
  void visit(const std::function<void(Tally&)>& visit);

 private:
  std::mutex mutex_;
  std::deque<Tally> tallies_;
};

class GpuRoster;

// What the threads of one sampler share. Outlives them.
struct Shared {
  const Options& options;
  recorder::File& file;
  EventLog& events;
  CpuAllowance& gpm_allowance;
  TallyBook& tallies;
  GpuRoster* roster = nullptr;  // null: the GPUs' places are fixed
};

enum class DeviceKind { kGpu, kMigInstance };

// What the blocking PCIe call told last, from its own thread to the GPU's slow lane.
class PcieReadings {
 public:
  void set(const nvml::PcieThroughput& throughput);
  nvml::PcieThroughput get() const;

 private:
  mutable std::mutex mutex_;
  nvml::PcieThroughput throughput_;
};

// The lanes of one device, a GPU or a MIG instance: when each is due, and what becomes of its rows.
// Belongs to one thread, but for policy().lease(), pcie() and tally().
class DeviceLanes {
 public:
  // Takes the rings of the device slot. `place` spreads the slow lanes of several devices over
  // their period.
  static base::Result<std::unique_ptr<DeviceLanes>> open(const Shared& shared, std::uint32_t slot,
                                                         unsigned place, DeviceKind kind);
  DeviceLanes(const DeviceLanes&) = delete;
  DeviceLanes& operator=(const DeviceLanes&) = delete;

  // The device is there (again): reads its identity and goes on with the slot's sums if it is the
  // one that they are of. Its calls are counted here from now on.
  void begin(nvml::Device device);
  // It is not there (any more): a row in each lane says why, unless `why` is kNotRead.
  void end(catalog::State why);
  bool is_begun() const { return device_.has_value(); }
  // Whether the device was another one than the rings' at the last begin().
  GpuIs begun_as() const { return begun_as_; }
  nvml::Device& device() { return *device_; }

  // Reads what is due. What stands against going on: kOk, kLost, kFailed. REQUIRES: is_begun().
  catalog::State run_due();
  std::int64_t next_ns() const;

  // The slow lane and the totals are due now.
  void read_soon();
  // So is what identifies the device.
  void read_identity_soon();
  // Processes in these GPU instances are listed by others' lanes.
  void leave_processes_to(std::vector<std::uint32_t> gpu_instances) {
    process_.leave_to(std::move(gpu_instances));
  }
  // What it did not support or allow is asked for again at the next reading.
  void forget_absences();
  // Reads every lane once, due or not. GPM takes a sample: with the second one a window closes.
  catalog::State read_all();
  void read_gpm();

  bool has_gpm() const { return gpm_.is_open(); }
  GpmPolicy& policy() { return policy_; }
  PcieReadings& pcie() { return pcie_; }
  Tally& tally() { return tally_; }
  std::uint32_t slot() const { return slot_; }

 private:
  enum Lane { kGauge, kGpm, kPower, kProcess, kSlow, kTotals, kLanes };
  using Tickers = std::array<Ticker, kLanes>;
  struct Rings {
    recorder::Writer gauge;
    std::optional<recorder::Writer> power;
    recorder::Writer gpm;
    recorder::Writer process;
    recorder::Writer slow;
    recorder::Writer once;
    recorder::Writer totals;
  };

  DeviceLanes(const Shared& shared, std::uint32_t slot, unsigned place, DeviceKind kind,
              const Rings& rings);
  static Tickers make_tickers(const Options& options, DeviceKind kind, unsigned place);
  GpuIs recognize() const;
  void run(Lane lane);
  void read_gauge();
  void read_power();
  void read_processes();
  void read_slow();
  void read_identity();
  void write_totals();
  void put_pcie();
  void note_throttling();
  void set_gpm_pace(std::int64_t now);
  nvml::Elsewhere elsewhere() const;
  void report_gap(std::int64_t now);
  void report_changes(const catalog::Row& before);
  void report_lost_metrics(const catalog::Row& before, const catalog::Row& now);
  std::int64_t now_ns() const { return shared_.options.clock(); }

  const Shared shared_;
  const std::uint32_t slot_;
  const DeviceKind kind_;
  Tally& tally_;
  std::optional<nvml::Device> device_;
  GpuIs begun_as_ = GpuIs::kAnother;

  recorder::Writer gauge_writer_;
  recorder::Writer slow_writer_;
  recorder::Writer once_writer_;
  LaneReader gauge_reader_{catalog::Lane::kGauge};
  LaneReader slow_reader_{catalog::Lane::kSlow};
  LaneReader once_reader_{catalog::Lane::kOnce};
  catalog::Row gauge_{catalog::Scope::kGpu, catalog::Lane::kGauge};
  catalog::Row slow_{catalog::Scope::kGpu, catalog::Lane::kSlow};
  catalog::Row once_{catalog::Scope::kGpu, catalog::Lane::kOnce};
  // What the rings ended with, compared with the first row of this time; time 0: nothing to
  // compare.
  catalog::Row gauge_seen_{catalog::Scope::kGpu, catalog::Lane::kGauge};
  catalog::Row slow_seen_{catalog::Scope::kGpu, catalog::Lane::kSlow};
  catalog::Row slow_before_{catalog::Scope::kGpu, catalog::Lane::kSlow};
  std::optional<PowerLane> power_;
  GpmLane gpm_;
  ProcessLane process_;
  Totals totals_;
  GpmPolicy policy_;
  ThrottleWatch throttle_;
  PcieReadings pcie_;

  Tickers tickers_;
  std::int64_t samples_due_ns_ = 0;  // of the processes' utilization
  bool is_identity_due_ = false;
  std::optional<double> utilization_;
  std::int64_t utilization_ns_ = 0;
  std::uint64_t readings_ = 0;  // since the last totals
  std::uint64_t rejected_before_ = 0;
};

}  // namespace everywatt::sampler
