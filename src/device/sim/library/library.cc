// SPDX-License-Identifier: Apache-2.0
#include "device/sim/library/library.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "device/sim/machine_state.h"

// Of the C++ library, for checkers of memory; no header declares it.
namespace __gnu_cxx {
void __freeres();
}

namespace everywatt::sim {
namespace {

using abi::Return;

// How often a call that hangs looks whether its time is over.
constexpr auto kHangCheck = std::chrono::milliseconds(5);

struct Current {
  std::mutex mutex;
  std::shared_ptr<Library> library;
  unsigned inits = 0;
};

// The state of a C library has to live somewhere. It is never destroyed, since threads may outlive
// main, and lies in the library's own memory, so that it goes when the library is unloaded.
Current& current() {
  alignas(Current) static std::byte memory[sizeof(Current)];
  static Current* const kState = new (memory) Current;
  return *kState;
}

// The C++ library in this one keeps 72 kB for exceptions when there is no memory, and does not give
// them back when it is unloaded with it, as it is at each reload of the driver.
__attribute__((destructor)) void give_back_reserve() {
  __gnu_cxx::__freeres();
}

// Not an optional: a thread's memory of a library that is unloaded must need no destructor.
thread_local bool has_pending_garbage = false;
thread_local PendingGarbage pending_garbage;

// As a thread that waits within the kernel: only SIGKILL ends it.
void mask_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

// A wrong pointer within the driver's library. A signal that is raised could be masked.
[[noreturn]] void crash() {
  volatile std::uintptr_t nowhere = 64;
  *reinterpret_cast<volatile int*>(nowhere) = 0;
  std::abort();
}

std::string trace_name(const std::string& stem) {
  return stem.substr(stem.rfind('/') + 1);
}

base::Result<Playhead> open_playhead(const Scenario& scenario) {
  const char* named = std::getenv("EVERYWATT_SIM_PLAYHEAD");
  const std::string path = named && *named ? named : scenario.playhead;
  if (path.empty()) return Playhead::unshared();
  return Playhead::open(path);
}

bool names(const FaultEntry& fault, Call call, const Gpu* gpu) {
  if (fault.gpu && (!gpu || *fault.gpu != gpu->number())) return false;
  if (fault.function == "*") return gpu != nullptr;
  return fault.function == call.name();
}

}  // namespace

base::Result<std::shared_ptr<Library>> Library::open() {
  const char* path = std::getenv("EVERYWATT_SIM");
  if (!path || !*path) {
    return base::fail(base::Code::kNotFound, "EVERYWATT_SIM names no scenario");
  }
  base::Result<Scenario> scenario = read_scenario(path);
  if (!scenario) return std::unexpected(scenario.error());
  base::Result<Playhead> playhead = open_playhead(*scenario);
  if (!playhead) return std::unexpected(playhead.error());

  std::shared_ptr<Library> library(new Library(std::move(*playhead)));
  library->scenario_ = std::move(*scenario);
  library->driver_changes_ = driver_changes(library->scenario_, library->playhead_.now().played_ns);
  std::map<std::string, std::shared_ptr<const GpuTrace>> traces;
  const std::vector<DeviceEntry>& devices = library->scenario_.devices;
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    std::shared_ptr<const GpuTrace>& trace = traces[devices[i].trace];
    if (!trace) {
      base::Result<GpuTrace> read = read_gpu_trace(devices[i].trace);
      if (!read) return std::unexpected(read.error());
      trace = std::make_shared<const GpuTrace>(std::move(*read));
    }
    const Loop loop =
        devices[i].loop.value_or(loop_of(trace_name(devices[i].trace), trace->last_ns));
    library->gpus_.push_back(std::make_unique<Gpu>(i, library->scenario_, trace, loop));
  }
  return library;
}

Gpu* Library::find(abi::Device device) const {
  for (const std::unique_ptr<Gpu>& gpu : gpus_) {
    if (handle_of(*gpu) == device) return gpu.get();
  }
  return nullptr;
}

const MigInstance* Library::find_mig(abi::Device device) const {
  for (const MigInstance& mig : scenario_.mig_instances) {
    if (handle_of(mig) == device) return &mig;
  }
  return nullptr;
}

bool Library::is_stale() const {
  return driver_changes(scenario_, playhead_.now().played_ns) != driver_changes_;
}

std::optional<Return> Library::take_fault(Call call, const Gpu* gpu) {
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    const FaultEntry& fault = scenario_.faults[i];
    if (!names(fault, call, gpu) || !fault.span.holds(playhead_.now().played_ns)) continue;
    const std::uint64_t fired = playhead_.count_fault(i);
    if (fired >= fault.times) continue;
    if (fault.signals_masked) mask_signals();
    if (fault.delay_ns == kForever) {
      while (fault.span.holds(playhead_.now().played_ns))
        std::this_thread::sleep_for(kHangCheck);
    } else if (fault.delay_ns > 0) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(fault.delay_ns));
    }
    if (fault.crash) crash();
    if (fault.garbage) {
      pending_garbage = {.kind = *fault.garbage, .seed = fired};
      has_pending_garbage = true;
      return Return::kSuccess;
    }
    if (!fault.return_code) return std::nullopt;
    return static_cast<Return>(*fault.return_code);
  }
  return std::nullopt;
}

std::optional<PendingGarbage> take_pending_garbage() {
  if (!std::exchange(has_pending_garbage, false)) return std::nullopt;
  return pending_garbage;
}

std::shared_ptr<Library> current_library() {
  const std::lock_guard lock(current().mutex);
  return current().library;
}

Return init_library(Call call) {
  std::shared_ptr<Library> library = current_library();
  if (!library || library->is_stale()) {
    base::Result<std::shared_ptr<Library>> opened = Library::open();
    if (!opened) {
      std::fprintf(stderr, "libnvidia-ml-sim: %s\n", opened.error().message.c_str());
      return Return::kDriverNotLoaded;
    }
    library = std::move(*opened);
  }
  library->playhead().count(call);
  if (const std::optional<Return> fault = library->take_fault(call, nullptr)) return *fault;
  const std::int64_t played_ns = library->playhead().now().played_ns;
  if (const LibraryEntry* trouble = library_trouble(library->scenario(), played_ns)) {
    if (trouble->absent) return Return::kLibraryNotFound;
    return trouble->mismatch ? Return::kLibRmVersionMismatch : Return::kDriverNotLoaded;
  }
  const std::lock_guard lock(current().mutex);
  if (current().inits > 0 && !current().library->is_stale()) {
    ++current().inits;
    return Return::kSuccess;
  }
  current().library = std::move(library);
  current().inits = 1;
  return Return::kSuccess;
}

Return shut_library() {
  if (const auto library = current_library()) {
    library->playhead().count("nvmlShutdown");
    if (const auto fault = library->take_fault("nvmlShutdown", nullptr)) return *fault;
  }
  std::shared_ptr<Library> last;  // goes after the lock
  const std::lock_guard lock(current().mutex);
  if (current().inits == 0) return Return::kUninitialized;
  if (--current().inits == 0) last = std::move(current().library);
  return Return::kSuccess;
}

Return copy_text(std::string_view text, char* buffer, unsigned length) {
  if (!buffer) return Return::kInvalidArgument;
  if (text.size() >= length) return Return::kInsufficientSize;
  *std::copy(text.begin(), text.end(), buffer) = '\0';
  return Return::kSuccess;
}

namespace {

// Lets a call in, if the library is initialised with the driver that is loaded now.
Entry let_in(Call call) {
  Entry entry{.library = current_library(), .moment = {}, .outcome = {}};
  if (entry.library) entry.library->playhead().count(call);
  if (!entry.library || entry.library->is_stale()) entry.outcome = Return::kUninitialized;
  return entry;
}

}  // namespace

Entry enter(Call call) {
  Entry entry = let_in(call);
  if (entry.outcome) return entry;
  entry.outcome = entry.library->take_fault(call, nullptr);
  entry.moment = entry.library->playhead().now();
  return entry;
}

Entry enter(Call call, abi::Device device) {
  Entry entry = enter_any(call, device);
  if (!entry.outcome && entry.mig) entry.outcome = Return::kNotSupported;
  return entry;
}

Entry enter_any(Call call, abi::Device device) {
  Entry entry = let_in(call);
  if (entry.outcome) return entry;
  entry.gpu = entry.library->find(device);
  if (!entry.gpu) entry.mig = entry.library->find_mig(device);
  if (entry.mig) entry.gpu = entry.library->gpus()[entry.mig->gpu].get();
  entry.outcome = entry.gpu ? entry.library->take_fault(call, entry.gpu) : Return::kInvalidArgument;
  entry.moment = entry.library->playhead().now();
  if (!entry.outcome &&
      !is_present(entry.library->scenario(), entry.gpu->number(), entry.moment.played_ns)) {
    entry.outcome = Return::kGpuIsLost;
  }
  // Nothing is behind a handle any more when its instance was destroyed.
  if (!entry.outcome && entry.mig && !entry.mig->span.holds(entry.moment.played_ns)) {
    entry.outcome = Return::kInvalidArgument;
  }
  return entry;
}

std::optional<Return> fault_of_freeing(Call call) {
  const std::shared_ptr<Library> library = current_library();
  if (!library) return std::nullopt;
  library->playhead().count(call);
  return library->take_fault(call, nullptr);
}

}  // namespace everywatt::sim
