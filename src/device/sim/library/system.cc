// SPDX-License-Identifier: Apache-2.0
//
// The library itself, the system, and how a GPU is found.
#include <cstdio>
#include <string>

#include "base/text.h"
#include "device/sim/library/exports.h"
#include "device/sim/library/library.h"
#include "device/sim/return_names.h"

using namespace everywatt::sim;
using abi::Device;
using abi::Return;

namespace {

Return init(Call call) {
  const Return result = init_library();
  if (const auto library = current_library()) library->playhead().count(call);
  return result;
}

Return text(Call call, std::string Scenario::* part, char* buffer, unsigned length) {
  const Entry entry = enter(call);
  if (entry.outcome) return *entry.outcome;
  return copy_text(entry.library->scenario().*part, buffer, length);
}

Return cuda_version(Call call, int* version) {
  const Entry entry = enter(call);
  if (entry.outcome) return *entry.outcome;
  if (!version) return Return::kInvalidArgument;
  *version = entry.library->scenario().cuda_version;
  return Return::kSuccess;
}

Return count(Call call, unsigned* number) {
  const Entry entry = enter(call);
  if (entry.outcome) return *entry.outcome;
  if (!number) return Return::kInvalidArgument;
  *number = static_cast<unsigned>(entry.library->gpus().size());
  return Return::kSuccess;
}

// The first GPU for which `fits` holds.
template <typename Fits>
Return look_up(Call call, Device* out, Fits fits) {
  const Entry entry = enter(call);
  if (entry.outcome) return *entry.outcome;
  if (!out) return Return::kInvalidArgument;
  for (const auto& gpu : entry.library->gpus()) {
    if (!fits(*gpu)) continue;
    if (const auto fault = entry.library->take_fault(call, gpu.get())) return *fault;
    *out = Library::handle_of(*gpu);
    return Return::kSuccess;
  }
  return Return::kNotFound;
}

Return by_index(Call call, unsigned index, Device* out) {
  const Return result = look_up(call, out, [=](const Gpu& gpu) { return gpu.number() == index; });
  return result == Return::kNotFound ? Return::kInvalidArgument : result;
}

// Both forms that the driver writes, and the short one without a domain; capitals or not.
bool has_address(const Gpu& gpu, std::string_view address) {
  const std::string wanted = everywatt::base::to_lower(address);
  for (const char* form : {"%08x:%02x:00.0", "%04x:%02x:00.0"}) {
    char own[32];
    std::snprintf(own, sizeof own, form, 0u, gpu.pci_bus());
    if (wanted == own) return true;
  }
  return false;
}

Return by_address(Call call, const char* address, Device* out) {
  if (!address) return Return::kInvalidArgument;
  return look_up(call, out, [=](const Gpu& gpu) { return has_address(gpu, address); });
}

}  // namespace

extern "C" {

Return nvmlInit_v2() {
  return init("nvmlInit_v2");
}
Return nvmlInit() {
  return init("nvmlInit");
}
Return nvmlInitWithFlags(unsigned) {
  return init("nvmlInitWithFlags");
}

Return nvmlShutdown() {
  if (const auto library = current_library()) library->playhead().count("nvmlShutdown");
  return shut_library();
}

const char* nvmlErrorString(Return code) {
  if (const auto library = current_library()) library->playhead().count("nvmlErrorString");
  return describe_return(static_cast<unsigned>(code));
}

Return nvmlSystemGetDriverVersion(char* buffer, unsigned length) {
  return text("nvmlSystemGetDriverVersion", &Scenario::driver_version, buffer, length);
}
Return nvmlSystemGetNVMLVersion(char* buffer, unsigned length) {
  return text("nvmlSystemGetNVMLVersion", &Scenario::nvml_version, buffer, length);
}
Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return cuda_version("nvmlSystemGetCudaDriverVersion_v2", version);
}
Return nvmlSystemGetCudaDriverVersion(int* version) {
  return cuda_version("nvmlSystemGetCudaDriverVersion", version);
}
Return nvmlSystemGetProcessName(unsigned, char*, unsigned) {
  const Entry entry = enter("nvmlSystemGetProcessName");
  return entry.outcome.value_or(
      Return::kNotFound);  // the processes exist in the fake host root only
}

Return nvmlDeviceGetCount_v2(unsigned* number) {
  return count("nvmlDeviceGetCount_v2", number);
}
Return nvmlDeviceGetCount(unsigned* number) {
  return count("nvmlDeviceGetCount", number);
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* out) {
  return by_index("nvmlDeviceGetHandleByIndex_v2", index, out);
}
Return nvmlDeviceGetHandleByIndex(unsigned index, Device* out) {
  return by_index("nvmlDeviceGetHandleByIndex", index, out);
}
Return nvmlDeviceGetHandleByPciBusId_v2(const char* address, Device* out) {
  return by_address("nvmlDeviceGetHandleByPciBusId_v2", address, out);
}
Return nvmlDeviceGetHandleByPciBusId(const char* address, Device* out) {
  return by_address("nvmlDeviceGetHandleByPciBusId", address, out);
}
Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* out) {
  if (!uuid) return Return::kInvalidArgument;
  return look_up("nvmlDeviceGetHandleByUUID", out,
                 [=](const Gpu& gpu) { return gpu.uuid() == uuid; });
}
Return nvmlDeviceGetHandleBySerial(const char* serial, Device* out) {
  if (!serial) return Return::kInvalidArgument;
  return look_up("nvmlDeviceGetHandleBySerial", out,
                 [=](const Gpu& gpu) { return gpu.serial() == serial; });
}

}  // extern "C"
