// SPDX-License-Identifier: Apache-2.0
#include "app/gpu_bus.h"

#include <utility>

#include "device/host/folder.h"
#include "device/host/pci.h"

namespace everywatt::app {

std::vector<std::string> GpuBus::list() {
  std::vector<std::string> names = host::list_folder(root_, "/sys/bus/pci/devices");
  const bool is_changed = std::exchange(names_, names) != names;
  // Once more after a change: a folder may be there a moment before what is in it.
  if (is_changed || !std::exchange(is_settled_, true)) {
    gpus_.clear();
    for (host::PciGpu& gpu : host::list_gpus(root_))
      gpus_.push_back(std::move(gpu.address));
  }
  if (is_changed) is_settled_ = false;
  return gpus_;
}

}  // namespace everywatt::app
