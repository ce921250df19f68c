// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/host/root.h"

namespace everywatt::host {

// What the kernel says about a device's power: a suspended GPU wakes up when its driver is asked.
enum class PowerState { kUnknown, kActive, kSuspended, kChanging };

// One NVIDIA GPU on the PCI bus, as sysfs shows it, whether or not its driver works.
struct PciGpu {
  std::string address;           // "0000:06:00.0", lower case
  std::uint16_t device_id = 0;   // 0x2335
  std::optional<int> numa_node;  // none: the machine does not say
  PowerState power = PowerState::kUnknown;
  bool has_driver = false;  // the kernel module `nvidia` is bound to it
};

// All of them in bus order, which is nvidia-smi's order. Reads sysfs alone, never the driver, and
// so never hangs with it. Empty: no GPU, or no sysfs below this root.
std::vector<PciGpu> list_gpus(const Root& root);

// The address of `text` in the form of PciGpu::address, from any usual spelling
// ("00000000:06:00.0", "0000:06:00", "06:00.0"); nothing when it is not one.
std::optional<std::string> normalize_address(std::string_view text);

}  // namespace everywatt::host
