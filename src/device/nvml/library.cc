// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "device/nvml/library_file.h"

namespace everywatt::nvml {
namespace {

using abi::Return;
using base::Code;

// The exported names of each call, by Call.
struct Names {
  const char* const* first;
};
constexpr std::array<Names, kCallCount> kNamesOf = {{
#define CALL(name) {abi::name.names},
#include "device/nvml/calls.inc"
#undef CALL
}};
constexpr std::size_t kNamesPerFunction = std::size(abi::kInit.names);

// Marks a symbol that was looked up in vain.
char missing_mark;
void* const kMissing = &missing_mark;

std::unexpected<base::Error> init_failed(const std::string& path, Return code) {
  const auto fail = [&](Code kind, std::string_view what, std::string hint) {
    return base::fail(kind,
                      fmt::format("{}: {} (nvmlInit: {})", path, what, static_cast<unsigned>(code)),
                      std::move(hint));
  };
  switch (code) {
    case Return::kDriverNotLoaded:
      return fail(Code::kUnavailable, "the NVIDIA kernel driver is not loaded",
                  "load it: modprobe nvidia");
    case Return::kLibRmVersionMismatch:
      return fail(Code::kNotSupported, "the library and the loaded kernel driver differ in version",
                  "the driver was updated while loaded: reload its kernel module, or reboot");
    case Return::kNoPermission:
      return fail(Code::kNoPermission, "no permission to talk to the driver",
                  "run as a user who may open /dev/nvidiactl");
    case Return::kFunctionNotFound:
      return fail(Code::kNotSupported, "the library lacks nvmlInit", "");
    default:
      return fail(Code::kUnavailable, "the driver does not start",
                  "see the kernel log for lines of NVRM; in a container, /dev/nvidiactl may have "
                  "been taken away");
  }
}

// Drivers 535.43 to 535.97 made the entries of their process lists longer under the same name, _v3;
// what they export as _v2 is as it always was.
bool has_longer_v3_lists(std::string_view driver_version) {
  const std::vector<std::string_view> parts = base::split(driver_version, '.');
  if (parts.size() < 2 || parts[0] != "535") return false;
  const std::optional<std::uint64_t> minor = base::parse_u64(parts[1]);
  return minor && *minor >= 43 && *minor < 98;
}

}  // namespace

base::Result<std::unique_ptr<Library>> Library::open(const LibraryOptions& options,
                                                     const CallTrace& trace) {
  std::unique_ptr<Library> library(new Library);
  library->trace_ = trace;
  library->path_ = options.path;
  library->resolve_ = options.resolve;
  if (!options.resolve) {
    base::Result<LibraryFile> file = load_library_file(options.path);
    if (!file) return std::unexpected(std::move(file.error()));
    library->path_ = file->path;
    library->file_ = file->handle;
    library->resolve_ = [handle = file->handle](const char* name) { return ::dlsym(handle, name); };
  }
  const Return code = library->call<Call::kInit>(trace);
  if (code != Return::kSuccess) return init_failed(library->path_, code);
  library->is_initialised_ = true;
  library->leave_out_longer_lists();
  return library;
}

void Library::leave_out_longer_lists() {
  std::array<char, abi::kVersionBufferSize + 1> version{};
  if (call<Call::kSystemGetDriverVersion>(trace_, version.data(), abi::kVersionBufferSize) !=
          Return::kSuccess ||
      !has_longer_v3_lists(version.data())) {
    return;
  }
  resolve_ = [resolve = std::move(resolve_)](const char* name) -> void* {
    return std::string_view(name).ends_with("RunningProcesses_v3") ? nullptr : resolve(name);
  };
}

Library::~Library() {
  // The driver's own complaint at the end helps nobody: what follows is the unloading anyway.
  if (is_initialised_) static_cast<void>(call<Call::kShutdown>(trace_));
  if (file_ != nullptr) ::dlclose(file_);
}

void* Library::symbol(Call call) {
  std::atomic<void*>& slot = symbols_[static_cast<unsigned>(call)];
  void* found = slot.load(std::memory_order_acquire);
  if (found == nullptr) {
    found = kMissing;
    const char* const* names = kNamesOf[static_cast<unsigned>(call)].first;
    for (std::size_t i = 0; i < kNamesPerFunction && names[i] != nullptr; ++i) {
      void* const address = resolve_(names[i]);
      if (address == nullptr) continue;
      found = address;
      break;
    }
    slot.store(found, std::memory_order_release);  // two threads find the same
  }
  return found == kMissing ? nullptr : found;
}

std::int64_t Library::enter(Call call, const CallTrace& trace) {
  const std::int64_t now_ns = base::boottime_ns();
  // The start first: who sees a call sees since when.
  if (trace.since_ns != nullptr) {
    trace.since_ns->store(static_cast<std::uint64_t>(now_ns), std::memory_order_release);
  }
  if (trace.call != nullptr) {
    trace.call->store((static_cast<std::uint64_t>(call) + 1) | trace.mark,
                      std::memory_order_release);
  }
  return now_ns;
}

void Library::leave(const CallTrace& trace, std::int64_t begin_ns, abi::Return code) {
  if (trace.call != nullptr) trace.call->store(0, std::memory_order_release);
  if (code == Return::kUninitialized || code == Return::kDriverNotLoaded) {
    is_shut_.store(true, std::memory_order_relaxed);
  }
  if (trace.tally == nullptr) return;
  // Only its own thread writes a tally: a load and a store are enough, and cheaper than an add.
  const auto add = [](std::atomic<std::uint64_t>& sum, std::uint64_t more) {
    sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  };
  add(trace.tally->calls, 1);
  add(trace.tally->call_ns, static_cast<std::uint64_t>(base::boottime_ns() - begin_ns));
  // Asking for the room that a list needs is no failure.
  if (code == Return::kInsufficientSize) return;
  const catalog::State state = state_of(code);
  if (state == catalog::State::kFailed || state == catalog::State::kLost ||
      state == catalog::State::kTimedOut) {
    add(trace.tally->failures, 1);
  }
}

}  // namespace everywatt::nvml
