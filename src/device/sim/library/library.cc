// SPDX-License-Identifier: Apache-2.0
#include "device/sim/library/library.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <thread>

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

std::optional<Return> Library::take_fault(Call call, const Gpu* gpu) {
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    const FaultEntry& fault = scenario_.faults[i];
    if (!names(fault, call, gpu) || !fault.span.holds(playhead_.now().played_ns)) continue;
    if (playhead_.count_fault(i) >= fault.times) continue;
    if (fault.delay_ns == kForever) {
      while (fault.span.holds(playhead_.now().played_ns))
        std::this_thread::sleep_for(kHangCheck);
    } else if (fault.delay_ns > 0) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(fault.delay_ns));
    }
    if (!fault.return_code) return std::nullopt;
    return static_cast<Return>(*fault.return_code);
  }
  return std::nullopt;
}

std::shared_ptr<Library> current_library() {
  const std::lock_guard lock(current().mutex);
  return current().library;
}

Return init_library() {
  const std::lock_guard lock(current().mutex);
  if (current().inits > 0) {
    ++current().inits;
    return Return::kSuccess;
  }
  base::Result<std::shared_ptr<Library>> library = Library::open();
  if (!library) {
    std::fprintf(stderr, "libnvidia-ml-sim: %s\n", library.error().message.c_str());
    return Return::kDriverNotLoaded;
  }
  if (const std::optional<Return> fault = (*library)->take_fault("nvmlInit_v2", nullptr)) {
    return *fault;
  }
  current().library = std::move(*library);
  current().inits = 1;
  return Return::kSuccess;
}

Return shut_library() {
  const std::lock_guard lock(current().mutex);
  if (current().inits == 0) return Return::kUninitialized;
  if (--current().inits == 0) current().library.reset();
  return Return::kSuccess;
}

Return copy_text(std::string_view text, char* buffer, unsigned length) {
  if (!buffer) return Return::kInvalidArgument;
  if (text.size() >= length) return Return::kInsufficientSize;
  *std::copy(text.begin(), text.end(), buffer) = '\0';
  return Return::kSuccess;
}

Entry enter(Call call) {
  Entry entry{.library = current_library(), .gpu = nullptr, .moment = {}, .outcome = {}};
  if (!entry.library) {
    entry.outcome = Return::kUninitialized;
    return entry;
  }
  entry.library->playhead().count(call);
  entry.outcome = entry.library->take_fault(call, nullptr);
  entry.moment = entry.library->playhead().now();
  return entry;
}

Entry enter(Call call, abi::Device device) {
  Entry entry{.library = current_library(), .gpu = nullptr, .moment = {}, .outcome = {}};
  if (!entry.library) {
    entry.outcome = Return::kUninitialized;
    return entry;
  }
  entry.library->playhead().count(call);
  entry.gpu = entry.library->find(device);
  entry.outcome = entry.gpu ? entry.library->take_fault(call, entry.gpu) : Return::kInvalidArgument;
  entry.moment = entry.library->playhead().now();
  return entry;
}

}  // namespace everywatt::sim
