// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/check.h"
#include "device/nvml/library.h"

namespace everywatt::nvml {

// How a call of the driver goes wrong: it is not made and answers with a code, or it is made, says
// that all is well, and has filled what it gives with one byte over and over.
struct Misbehaviour {
  Call call{};
  unsigned nth = 0;
  abi::Return code = abi::Return::kSuccess;
  int garbage = -1;  // the byte; -1: none
};

// Stands between the simulated library and its caller, counts, and lets one call misbehave. The
// second GPU is also given as the one MIG instance of the first, for the simulation has none.
class FailingDriver {
 public:
  static constexpr unsigned kGpuInstance = 3;

  static LibraryOptions options(const std::string& path) {
    file_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    CHECK(file_ != nullptr);
    // What the MIG instance is made of.
    CHECK(resolve("nvmlDeviceGetHandleByIndex_v2") && resolve("nvmlGpmSampleGet"));
    return {.path = path, .resolve = resolve};
  }

  static void expect(const Misbehaviour& misbehaviour) {
    plan_ = misbehaviour;
    was_hit_ = false;
    counts_ = {};
  }
  static bool was_hit() { return was_hit_; }
  static unsigned calls(Call call) { return counts_[static_cast<unsigned>(call)]; }
  // What was handed out and not taken back: samples and event sets.
  static int things_alive() { return alive_; }
  // Called when it happens, to note in the midst of what.
  inline static void (*on_hit)() = nullptr;

 private:
  template <Call kCall, typename Signature>
  struct Door;
  template <Call kCall, typename... Args>
  struct Door<kCall, abi::Return(Args...)> {
    inline static abi::Return (*real)(Args...) = nullptr;

    static abi::Return open(Args... args) {
      const bool is_turn =
          ++counts_[static_cast<unsigned>(kCall)] == plan_.nth && plan_.call == kCall;
      if (kCall == Call::kGpmSampleFree || kCall == Call::kEventSetFree) --alive_;
      if (is_turn) {
        was_hit_ = true;
        if (on_hit != nullptr) on_hit();
        if (plan_.garbage < 0) return plan_.code;
      }
      const abi::Return code = answer<kCall>(real, args...);
      if (code == abi::Return::kSuccess &&
          (kCall == Call::kGpmSampleAlloc || kCall == Call::kEventSetCreate)) {
        ++alive_;
      }
      if (!is_turn) return code;
      [[maybe_unused]] const std::tuple<Args...> all(args...);
      (spoil(args, all), ...);
      return abi::Return::kSuccess;
    }
  };

  template <Call kCall, typename... Args>
  static abi::Return answer(abi::Return (*real)(Args...), std::type_identity_t<Args>... args) {
    [[maybe_unused]] const std::tuple<Args...> all(args...);
    if constexpr (kCall == Call::kDeviceGetMigMode) {
      *std::get<1>(all) = *std::get<2>(all) = is_instance(std::get<0>(all)) ? 0 : 1;
      return abi::Return::kSuccess;
    } else if constexpr (kCall == Call::kDeviceGetMaxMigDeviceCount) {
      *std::get<1>(all) = 2;
      return abi::Return::kSuccess;
    } else if constexpr (kCall == Call::kDeviceGetMigDeviceHandleByIndex) {
      if (std::get<1>(all) != 0) return abi::Return::kNotFound;
      return Door<Call::kDeviceGetHandleByIndex, abi::Return(unsigned, abi::Device*)>::real(
          1, std::get<2>(all));
    } else if constexpr (kCall == Call::kDeviceGetGpuInstanceId ||
                         kCall == Call::kDeviceGetComputeInstanceId) {
      *std::get<1>(all) = kGpuInstance;
      return abi::Return::kSuccess;
    } else if constexpr (kCall == Call::kGpmMigSampleGet) {
      if (std::get<1>(all) != kGpuInstance) return abi::Return::kInvalidArgument;
      return Door<Call::kGpmSampleGet, abi::Return(abi::Device, abi::GpmSample)>::real(
          std::get<0>(all), std::get<2>(all));
    } else {
      return real(args...);
    }
  }
  static bool is_instance(abi::Device device) {
    abi::Device second = nullptr;
    Door<Call::kDeviceGetHandleByIndex, abi::Return(unsigned, abi::Device*)>::real(1, &second);
    return device == second;
  }

  // Handles are left alone: a driver that lies about them can only be survived by another process.
  template <typename T, typename All>
  static void spoil(T* out, const All& all) {
    if constexpr (std::is_const_v<T> || std::is_pointer_v<T> || !std::is_object_v<T>) {
      return;
    } else if constexpr (std::is_same_v<T, char>) {
      std::memset(out, plan_.garbage, room(all));
    } else if constexpr (requires { sizeof(T); }) {
      if (out != nullptr) std::memset(static_cast<void*>(out), plan_.garbage, sizeof(T));
    }
  }
  template <typename All>
  static void spoil(unsigned, const All&) {}
  template <typename All>
  static void spoil(int, const All&) {}
  template <typename All>
  static void spoil(unsigned long long, const All&) {}
  template <typename All>
  static void spoil(abi::Device, const All&) {}
  template <typename All>
  static void spoil(abi::GpmSample, const All&) {}
  template <typename All>
  static void spoil(abi::EventSet, const All&) {}

  template <typename All>
  static std::size_t room(const All& all) {
    const auto& last = std::get<std::tuple_size_v<All> - 1>(all);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(last)>, unsigned>) {
      return last;
    } else {
      return abi::kGspVersionBufferSize;
    }
  }

  static void* resolve(const char* name) {
    void* const real = ::dlsym(file_, name);
    if (real == nullptr) return nullptr;
#define CALL(id)                                                                             \
  for (const char* one : abi::id.names) {                                                    \
    if (one == nullptr || std::string_view(one) != name) continue;                           \
    using Way =                                                                              \
        Door<Call::id, typename std::remove_cvref_t<decltype(kFunctionOf<Call::id>)>::Type>; \
    Way::real = reinterpret_cast<decltype(Way::real)>(real);                                 \
    return reinterpret_cast<void*>(&Way::open);                                              \
  }
#include "device/nvml/calls.inc"
#undef CALL
    return nullptr;
  }

  inline static void* file_ = nullptr;
  inline static Misbehaviour plan_;
  inline static bool was_hit_ = false;
  inline static std::array<unsigned, kCallCount> counts_{};
  inline static int alive_ = 0;
};

}  // namespace everywatt::nvml
