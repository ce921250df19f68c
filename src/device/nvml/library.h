// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "device/nvml/abi.h"
#include "device/nvml/call.h"

namespace everywatt::nvml {

// The address of an exported function, or null.
using Resolve = std::function<void*(const char* name)>;

struct LibraryOptions {
  // A library file. Empty: libnvidia-ml.so.1 as the dynamic linker finds it, then the folders where
  // distributions and container runtimes put it.
  std::string path;
  // Where functions are found instead of in a file; `path` then is only its name.
  Resolve resolve;
};

// What the abi declares of a Call.
template <Call kCall>
inline constexpr const void* kFunctionOf = nullptr;
#define CALL(name) \
  template <>      \
  inline constexpr const auto& kFunctionOf<Call::name> = abi::name;
#include "device/nvml/calls.inc"
#undef CALL

// The driver's library, loaded and initialised: the only door to the driver. Closing it (the
// destructor) shuts the driver's side down and unloads the file, so that nothing of it is left in
// the process; everything opened from it must be gone by then. Thread-safe.
//
// A function that the library lacks under all its names is no failure of the library: calling it
// gives abi::Return::kFunctionNotFound, which costs the readings that need it. Looking a function
// up happens at its first call.
class Library {
 public:
  // Loads and initialises. May take seconds, and may hang where the driver does: `trace` tells.
  // kNotFound: no usable file; the message names what is wrong with the first there is.
  // kUnavailable: the driver is not loaded or answers with an error now. kNotSupported: library and
  // driver are of different versions. kNoPermission.
  static base::Result<std::unique_ptr<Library>> open(const LibraryOptions& options,
                                                     const CallTrace& trace = {});
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const std::string& path() const { return path_; }

  // Calls the driver, leaving the breadcrumb and counting. kFunctionNotFound without a call when
  // the library lacks the function.
  template <Call kCall, typename... Args>
  abi::Return call(const CallTrace& trace, Args... args) {
    using Signature = typename std::remove_cvref_t<decltype(kFunctionOf<kCall>)>::Type;
    auto* const function = reinterpret_cast<Signature*>(symbol(kCall));
    if (function == nullptr) return abi::Return::kFunctionNotFound;
    const std::int64_t begin_ns = enter(kCall, trace);
    const abi::Return code = function(args...);
    leave(trace, begin_ns, code);
    return code;
  }
  bool has(Call call) { return symbol(call) != nullptr; }

  // Whether a call has said that the driver was shut down or unloaded under us: nothing that was
  // opened from it works any more, it has to be opened anew.
  bool is_shut() const { return is_shut_.load(std::memory_order_relaxed); }

 private:
  Library() = default;
  void leave_out_longer_lists();
  void* symbol(Call call);
  static std::int64_t enter(Call call, const CallTrace& trace);
  void leave(const CallTrace& trace, std::int64_t begin_ns, abi::Return code);

  std::string path_;
  void* file_ = nullptr;
  bool is_initialised_ = false;
  std::atomic<bool> is_shut_{false};
  Resolve resolve_;
  CallTrace trace_;
  // Null: not looked up yet; kMissing: looked up in vain.
  std::array<std::atomic<void*>, kCallCount> symbols_{};
};

}  // namespace everywatt::nvml
