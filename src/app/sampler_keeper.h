// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/backoff.h"
#include "app/gpu_fences.h"
#include "app/process.h"
#include "app/repeats.h"
#include "app/supervisor_log.h"
#include "base/clock.h"
#include "base/result.h"
#include "record/recorder/writer.h"
#include "record/sampler/sampler.h"

namespace everywatt::app {

// What a sampler's process is to leave alone.
struct SamplerOrders {
  std::vector<std::uint32_t> fenced;  // slots of GPUs
  bool has_events = true;             // false: the driver's events are not waited for
  bool has_fixed_slots = false;       // true: GPUs without a slot in the recorder are left unread
};

// Keeps one sampler's process running, whatever the driver does to it:
// - A GPU on which a call hangs is fenced: the sampler is replaced by one that leaves it alone, for
//   30 s at first and up to 10 minutes.
// - So is one on which the library crashed twice within a minute.
// - When the library's start or end hangs, the next start waits, up to 10 minutes.
// - A process that cannot be killed is kept and counted. The GPU that holds it is not tried again
//   before it is gone: there is never more than one a GPU, and one of the library's start.
// Belongs to one thread. No call waits longer than a second, but for drain().
class SamplerKeeper {
 public:
  struct Options {
    recorder::File* file = nullptr;
    SupervisorLog* log = nullptr;
    sampler::Deadlines deadlines = {};
    std::int64_t first_fence_ns = 30'000'000'000;
    std::function<base::Result<std::unique_ptr<Process>>(const SamplerOrders&)> start;
    base::Clock clock = base::boottime_ns;
  };
  explicit SamplerKeeper(Options options);

  // What is due: notices an ending, watches the calls, takes fences down, starts.
  void tick();

  // Ends the sampler and starts none: the GPUs are `drained`. Takes 2 s for one that hangs.
  // kUnavailable, naming it: a process that cannot be killed still holds the driver. All the same
  // none is started any more.
  base::Status drain();
  // Takes it up again at once, also what was fenced.
  void resume();
  bool is_drained() const { return is_drained_; }

  // The end of everything, in these steps. No process is started any more.
  void ask_to_end();
  void kill();
  bool wait_for_end(int timeout_ms);  // false: it still runs

  // True: it has ended for a GPU that the recorder has no slot for, and is started again with
  // continue_on(), on a larger file or the same.
  bool needs_slots() const { return needs_slots_; }
  enum class Slots { kMore, kFixed };
  void continue_on(recorder::File& file, Slots slots);

  const Process* process() const { return process_.get(); }
  // Processes that have been killed and still are there.
  std::size_t unkillable() const { return lingering_.size(); }
  const GpuFences& fences() const { return fences_; }

 private:
  struct Lingering {
    std::unique_ptr<Process> process;
    std::vector<std::uint32_t> holders;  // the slots whose calls hold it
    std::int64_t since_ns = 0;
    bool is_told = false;
  };

  void start(std::int64_t now_ns);
  void collect_lingering(std::int64_t now_ns);
  void note_ending(const Ending& ending, std::int64_t now_ns);
  void note_crash(const Ending& ending, std::int64_t now_ns);
  void watch_calls(std::int64_t now_ns);
  void fence(std::uint32_t gpu, recorder::DeviceStatus status, const std::string& text,
             std::int64_t now_ns);
  std::vector<std::uint32_t> crumbs() const;
  void clear_crumbs();
  void stop(int patience_ms, std::vector<std::uint32_t> holders);
  bool is_held(std::uint32_t slot) const;
  std::uint32_t gpu_of(std::uint32_t slot) const;
  std::optional<std::uint32_t> gpu_of_crumb(std::uint32_t slot) const;
  bool is_gpu(std::uint32_t slot) const;
  void set_all_gpus(recorder::DeviceStatus status, std::int64_t now_ns);
  void tell_end(std::uint64_t pid, int exit_status, const std::string& text);
  std::uint32_t part_slot() const;

  Options options_;
  std::uint32_t node_ = 0;
  std::unique_ptr<Process> process_;
  std::uint64_t pid_ = 0;
  std::int64_t started_ns_ = 0;
  std::int64_t start_at_ns_ = 0;
  std::int64_t events_at_ns_ = 0;  // when events are tried again; 0: they are waited for
  std::int64_t events_tried_ns_ = 0;
  bool is_drained_ = false;
  bool is_ending_ = false;
  bool needs_slots_ = false;
  bool has_fixed_slots_ = false;
  Backoff restarts_;
  Repeats repeats_;
  Backoff starts_of_library_;
  Backoff events_;
  GpuFences fences_;
  std::vector<Lingering> lingering_;
};

}  // namespace everywatt::app
