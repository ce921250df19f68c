// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "device/nvml/abi.h"
#include "device/sim/gpu.h"
#include "device/sim/playhead.h"
#include "device/sim/scenario.h"

namespace everywatt::sim {

namespace abi = nvml::abi;

// Everything between nvmlInit and the last nvmlShutdown. Read from any thread without a lock; a
// call that is under way keeps it alive.
class Library {
 public:
  // Reads the scenario that EVERYWATT_SIM names, its traces and its playhead
  // (EVERYWATT_SIM_PLAYHEAD before the scenario's own). GPUs with the same trace share it.
  static base::Result<std::shared_ptr<Library>> open();

  const Scenario& scenario() const { return scenario_; }
  Playhead& playhead() { return playhead_; }
  const std::vector<std::unique_ptr<Gpu>>& gpus() const { return gpus_; }
  // The GPU behind a handle of this library, or null.
  Gpu* find(abi::Device device) const;
  // The MIG instance behind a handle, also one that is no longer there, or null.
  const MigInstance* find_mig(abi::Device device) const;
  static abi::Device handle_of(Gpu& gpu) { return reinterpret_cast<abi::Device>(&gpu); }
  static abi::Device handle_of(const MigInstance& mig) {
    return reinterpret_cast<abi::Device>(const_cast<MigInstance*>(&mig));
  }

  // What the scenario's faults make of a call: waits as long as they say, then returns their code,
  // or nothing when the call is to work. `gpu` is null for calls that concern none. Where they
  // leave garbage the code is kSuccess, and take_pending_garbage() has what is left to do.
  std::optional<abi::Return> take_fault(Call call, const Gpu* gpu);

  // Whether the driver has been unloaded or loaded since this was opened.
  bool is_stale() const;

 private:
  explicit Library(Playhead playhead) : playhead_(std::move(playhead)) {}

  std::uint64_t driver_changes_ = 0;  // when this was opened
  Scenario scenario_;
  Playhead playhead_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
};

// The library that is initialised now, or null.
std::shared_ptr<Library> current_library();
// Initialises anew where the driver was loaded anew. A call that hangs holds up no other.
abi::Return init_library(Call call);
abi::Return shut_library();

// Garbage that a fault has made of the call of this thread.
struct PendingGarbage {
  Garbage kind = Garbage::kOnes;
  std::uint64_t seed = 0;  // how often the fault had fired before
};
std::optional<PendingGarbage> take_pending_garbage();

// Copies text into a caller's buffer, as every text function does.
abi::Return copy_text(std::string_view text, char* buffer, unsigned length);

// A call that has been let in.
struct Entry {
  std::shared_ptr<Library> library;
  Gpu* gpu = nullptr;
  const MigInstance* mig = nullptr;  // of that GPU
  Moment moment;
  std::optional<abi::Return> outcome;  // decided already: return it
};

// Counts the call and applies the faults. The second form also finds the GPU, and the third a GPU
// or a MIG instance, which has the faults of its GPU; the second answers what most functions say of
// an instance: that they are not for it.
Entry enter(Call call);
Entry enter(Call call, abi::Device device);
Entry enter_any(Call call, abi::Device device);

// For a function that also works when the library is shut.
std::optional<abi::Return> fault_of_freeing(Call call);

// The body of an exported function on a GPU: `body(gpu, moment)` runs when nothing stands in the
// way.
template <typename Body>
abi::Return on_gpu(Call call, abi::Device device, Body body) {
  const Entry entry = enter(call, device);
  if (entry.outcome) return *entry.outcome;
  return body(*entry.gpu, entry.moment);
}

// The same for functions that give one number: `value(gpu, moment)` is stored in *out.
template <typename Number, typename Value>
abi::Return give(Call call, abi::Device device, Number* out, Value value) {
  return on_gpu(call, device, [&](Gpu& gpu, const Moment& moment) {
    if (!out) return abi::Return::kInvalidArgument;
    *out = static_cast<Number>(value(gpu, moment));
    return abi::Return::kSuccess;
  });
}

// And for readings of the trace.
template <typename Number>
abi::Return give(Call call, abi::Device device, Number* out, Column column) {
  return give(call, device, out, [column](Gpu& gpu, const Moment& moment) {
    return gpu.read(column, moment.played_ns);
  });
}

// What this GPU cannot do, after the faults have had their say.
inline abi::Return refuse(Call call, abi::Device device) {
  return on_gpu(call, device, [](Gpu&, const Moment&) { return abi::Return::kNotSupported; });
}

}  // namespace everywatt::sim
