// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/view/view.h"

namespace everywatt::view {

using recorder::DeviceStatus;

// A GPU or MIG instance as people know it, or another device of the file (its name then says
// which).
struct Device {
  std::uint32_t slot = 0;
  catalog::Scope scope = catalog::Scope::kGpu;
  std::uint32_t index = 0;              // nvidia-smi's index; of a MIG instance: within its GPU
  std::optional<std::uint32_t> parent;  // slot of the GPU of a MIG instance
  std::uint32_t parent_index = 0;       // and its index
  DeviceStatus status = DeviceStatus::kUnused;
  std::int64_t status_since_ns = 0;
  std::uint64_t generation = 0;
  std::uint64_t call = 0;  // the driver call that runs now (nvml::Call + 1); 0: none
  std::int64_t call_since_ns = 0;
  std::string name;  // "NVIDIA H200", "sda", "eth0", "sampler"
  std::string uuid;
  std::string pci_address;  // "00000000:06:00.0"

  bool is_mig() const { return parent.has_value(); }
  // How people call it: "GPU 0", "GPU 0 MIG 1", "sda".
  std::string label() const;
};

// The devices of a scope as of now, in order of index, each MIG instance after its GPU.
std::vector<Device> devices(const View& view, catalog::Scope scope);
inline std::vector<Device> gpus(const View& view) {
  return devices(view, catalog::Scope::kGpu);
}
// The same without the MIG instances that were destroyed. They can still be asked for, as what they
// did is recorded, but nobody misses them.
std::vector<Device> present_gpus(const View& view);
// Another number whenever a device appears, goes, changes its status or states its constants anew,
// and for another file: what was derived from devices() and constants holds while this is the same.
std::uint64_t device_changes(const View& view);
// The machine's slot, if the file has it.
std::optional<std::uint32_t> node(const View& view);

// The GPU or MIG instance that `text` means: nvidia-smi's index ("0"; "0:1" for MIG instance 1 of
// it), a UUID or a unique beginning of one (with or without "GPU-" or "MIG-"), a PCI address in any
// of its usual forms. kNotFound and kInvalidArgument (ambiguous) name what there is.
base::Result<Device> find_gpu(std::span<const Device> gpus, std::string_view text);

std::string_view status_name(DeviceStatus status);  // "ok", "timed_out", ...
// True when nobody reads the device now. kFailed is not: its readings say what failed.
bool is_away(DeviceStatus status);
// The state of every reading of a device with this status; kOk for kOk.
catalog::State status_state(DeviceStatus status);

}  // namespace everywatt::view
