// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "device/nvml/library.h"

namespace everywatt::nvml {

// A driver's library that a test makes of functions of its own. It starts, has one GPU with a UUID,
// and lacks everything else. Functions are given by their exported names, as captureless lambdas.
class FakeDriver {
 public:
  FakeDriver() {
    set("nvmlInit_v2", +[] { return abi::Return::kSuccess; });
    set("nvmlShutdown", +[] { return abi::Return::kSuccess; });
    set(
        "nvmlDeviceGetHandleByIndex_v2", +[](unsigned number, abi::Device* device) {
          *device = handle(number);
          return abi::Return::kSuccess;
        });
    set(
        "nvmlDeviceGetUUID", +[](abi::Device, char* text, unsigned) {
          std::string("GPU-fake").copy(text, 9);
          return abi::Return::kSuccess;
        });
  }

  template <typename Result, typename... Args>
  void set(const std::string& name, Result (*function)(Args...)) {
    functions_[name] = reinterpret_cast<void*>(function);
  }
  void remove(const std::string& name) { functions_.erase(name); }

  LibraryOptions options() const {
    return {.path = "fake", .resolve = [functions = functions_](const char* name) -> void* {
              const auto found = functions.find(name);
              return found == functions.end() ? nullptr : found->second;
            }};
  }
  std::unique_ptr<Library> open() const { return std::move(*Library::open(options())); }

  static abi::Device handle(unsigned number) {
    return reinterpret_cast<abi::Device>(std::uintptr_t{number} + 1);
  }

 private:
  std::map<std::string, void*> functions_;
};

}  // namespace everywatt::nvml
