// SPDX-License-Identifier: Apache-2.0
//
// The library itself, the system, and how a GPU is found.
#include <cstdio>
#include <string>

#include "base/text.h"
#include "device/sim/library/driver.h"
#include "device/sim/library/library.h"
#include "device/sim/machine_state.h"
#include "device/sim/return_names.h"

using namespace everywatt::sim;
using abi::Device;
using abi::Return;

namespace {

Return text(Call call, std::string (*text_at)(const Scenario&, std::int64_t), char* buffer,
            unsigned length) {
  const Entry entry = enter(call);
  if (entry.outcome) return *entry.outcome;
  return copy_text(text_at(entry.library->scenario(), entry.moment.played_ns), buffer, length);
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
  *number =
      static_cast<unsigned>(indexed_gpus(entry.library->scenario(), entry.moment.played_ns).size());
  return Return::kSuccess;
}

// The first GPU that is there and for which `fits` holds; it gets the GPU and its index.
template <typename Fits>
Return look_up(Call call, Device* out, Fits fits) {
  const Entry entry = enter(call);
  if (entry.outcome) return *entry.outcome;
  if (!out) return Return::kInvalidArgument;
  unsigned index = 0;
  for (const std::uint32_t number :
       indexed_gpus(entry.library->scenario(), entry.moment.played_ns)) {
    Gpu& gpu = *entry.library->gpus()[number];
    if (!fits(gpu, index++)) continue;
    if (const auto fault = entry.library->take_fault(call, &gpu)) return *fault;
    *out = Library::handle_of(gpu);
    return Return::kSuccess;
  }
  return Return::kNotFound;
}

Return by_index(Call call, unsigned index, Device* out) {
  const Return result = look_up(call, out, [=](const Gpu&, unsigned at) { return at == index; });
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

Return mig_by_uuid(std::string_view uuid, Device* out) {
  const Entry entry = enter("nvmlDeviceGetHandleByUUID");
  if (entry.outcome) return *entry.outcome;
  if (!out) return Return::kInvalidArgument;
  for (const MigInstance& mig : entry.library->scenario().mig_instances) {
    if (mig.uuid != uuid || !mig.span.holds(entry.moment.played_ns)) continue;
    const Gpu* gpu = entry.library->gpus()[mig.gpu].get();
    if (const auto fault = entry.library->take_fault("nvmlDeviceGetHandleByUUID", gpu)) {
      return *fault;
    }
    *out = Library::handle_of(mig);
    return Return::kSuccess;
  }
  return Return::kNotFound;
}

Return by_address(Call call, const char* address, Device* out) {
  if (!address) return Return::kInvalidArgument;
  return look_up(call, out, [=](const Gpu& gpu, unsigned) { return has_address(gpu, address); });
}

}  // namespace

namespace everywatt::sim::driver {

Return nvmlInit_v2() {
  return init_library("nvmlInit_v2");
}
Return nvmlInit() {
  return init_library("nvmlInit");
}
Return nvmlInitWithFlags(unsigned) {
  return init_library("nvmlInitWithFlags");
}

Return nvmlShutdown() {
  return shut_library();
}

const char* nvmlErrorString(Return code) {
  if (const auto library = current_library()) {
    library->playhead().count("nvmlErrorString");
    static_cast<void>(library->take_fault("nvmlErrorString", nullptr));  // it returns no code
  }
  return describe_return(static_cast<unsigned>(code));
}

Return nvmlSystemGetDriverVersion(char* buffer, unsigned length) {
  return text("nvmlSystemGetDriverVersion", driver_version, buffer, length);
}
Return nvmlSystemGetNVMLVersion(char* buffer, unsigned length) {
  return text("nvmlSystemGetNVMLVersion", nvml_version, buffer, length);
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
  if (std::string_view(uuid).starts_with("MIG-")) return mig_by_uuid(uuid, out);
  return look_up("nvmlDeviceGetHandleByUUID", out,
                 [=](const Gpu& gpu, unsigned) { return gpu.uuid() == uuid; });
}
Return nvmlDeviceGetHandleBySerial(const char* serial, Device* out) {
  if (!serial) return Return::kInvalidArgument;
  return look_up("nvmlDeviceGetHandleBySerial", out,
                 [=](const Gpu& gpu, unsigned) { return gpu.serial() == serial; });
}

}  // namespace everywatt::sim::driver
