// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "device/nvml/library.h"
#include "record/recorder/writer.h"

namespace everywatt::sampler {

// How often each lane is read. No faster than the driver refreshes: less is a repeat, or worse.
struct Periods {
  std::int64_t gauge_ns = 100'000'000;
  std::int64_t power_drain_ns = 1'000'000'000;  // its rows are the driver's samples of 20.7 ms
  std::int64_t gpm_ns = 1'000'000'000;          // while nobody needs more
  std::int64_t gpm_fast_ns = 100'000'000;
  std::int64_t process_ns = 1'000'000'000;
  std::int64_t process_utilization_ns = 5'000'000'000;
  std::int64_t slow_ns = 10'000'000'000;
  std::int64_t pcie_ns = 10'000'000'000;  // the blocking throughput call, only without GPM
  std::int64_t mig_ns = 1'000'000'000;    // all lanes of a MIG instance
};

enum class GpmPace {
  kAdaptive,  // fast while it tells something (see gpm_policy.h), else slow
  kFast,      // always at gpm_fast_ns
  kSlow,      // always at gpm_ns
  kOff,       // never touched
};

struct Options {
  nvml::LibraryOptions library;
  // The GPUs' PCI addresses as sysfs writes them ("0000:06:00.0"). A GPU takes the slot that it had
  // before, else the next free one. Empty: the GPUs that NVML enumerates, which may touch one that
  // hangs.
  std::vector<std::string> pci_addresses;
  // The same list as it is now, for GPUs that come and go; called every 3 s by the thread of run().
  // Null: the list above stays.
  std::function<std::vector<std::string>()> list_gpus;
  // Places (GPU slots, counted from 0) which are not touched at all: their calls hang. Their status
  // is kept.
  std::vector<std::uint32_t> fenced;
  // Whether run() ends when there is a GPU without a slot, so that somebody can make a larger file.
  enum class NoSlot { kLeaveUnread, kEnd } no_slot = NoSlot::kLeaveUnread;
  // False: the driver's events are not waited for; the wait hangs.
  bool has_events = true;
  // Where /sys of the host is seen; "" is the real one.
  std::string host_root;
  Periods periods;
  GpmPace gpm_pace = GpmPace::kAdaptive;
  // CPU that fast GPM may cost all GPUs together, as a share of one core.
  double gpm_cpu_ratio = 0.01;
  // How long until a missing library or driver is tried again, and a lost GPU: for that one doubled
  // each time up to the second.
  std::int64_t retry_ns = 2'000'000'000;
  std::int64_t retry_max_ns = 60'000'000'000;
  base::Clock clock = base::boottime_ns;
  base::Clock wall_clock = base::walltime_ns;
};

// kInvalidArgument, naming the period, when one is outside what makes sense (gauge: 100 ms to 10 s;
// GPM: 100 ms to 1 min; power: 0.2 s to 2 s; the others 0.2 s to 10 min). No lane is read faster
// than its source refreshes.
base::Status check(const Options& options);

// Longer than this in one driver call and the call counts as hung.
struct Deadlines {
  std::int64_t call_ns = 2'000'000'000;
  std::int64_t init_ns = 30'000'000'000;
};

struct StuckCall {
  std::uint32_t device = 0;  // slot; that of the machine: library start, no GPU in particular
  nvml::Call call{};
  std::int64_t since_ns = 0;
};

// A thread whose calls are about several GPUs leaves its breadcrumbs in the sampler's own slot,
// with such a mark of the slot that a call is about. marked_slot(): nothing for one without.
std::uint64_t slot_mark(std::uint32_t slot);
std::optional<std::uint32_t> marked_slot(std::uint64_t breadcrumb);

// The driver calls that run longer than allowed, by the breadcrumbs in the file. For whoever
// watches the sampler from another process.
std::vector<StuckCall> find_stuck_calls(recorder::File& file, std::int64_t now_ns,
                                        const Deadlines& deadlines);

// Reads the driver and writes what it saw into the recorder: a thread a GPU, one for events, one
// for the PCIe call where it is needed. Takes the writers of all rings of GPUs and MIG instances,
// and of the sampler's own event and sampling rings. The file must outlive it. At most one a file.
class Sampler {
 public:
  // Takes the rings; touches no driver. kInvalidArgument as check(); kIo, kNotFound from the file.
  static base::Result<std::unique_ptr<Sampler>> open(const Options& options, recorder::File& file);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Works until asked to stop, then returns within a second unless a driver call hangs. A missing
  // library or driver, lost GPUs and failing calls are recorded and tried again: it never gives up.
  // Lets go of the driver before it returns; may be called again.
  enum class Ended { kStopped, kNoSlotLeft };
  Ended run(const std::stop_token& stop);

  // Reads GPM of the GPU in that device slot at the fast pace until then (boottime). Any thread; a
  // later time wins. At most 4 GPUs have one at once: false when that is so or the slot is no
  // GPU's.
  [[nodiscard]] bool lease(std::uint32_t device, std::int64_t until_ns);

  // Reads each lane of each GPU once, instead of run(): sample_once() for a file that goes on.
  base::Status read_once();

 private:
  struct Parts;
  explicit Sampler(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Reads each lane of each GPU once and returns: for commands without a daemon. Takes 0.3 s, for two
// GPM samples need a refresh between them. The errors are those of Library::open() and
// Sampler::open(); a GPU that cannot be read is in the file with its status.
base::Status sample_once(const Options& options, recorder::File& file);

}  // namespace everywatt::sampler
