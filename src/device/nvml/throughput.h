// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/nvml/device.h"

namespace everywatt::nvml {

// Bytes a second over PCIe, each direction over a window of 20 ms for which the call blocks: for a
// thread of its own, and only where no performance counters tell the same for free.
struct PcieThroughput {
  catalog::Reading transmit;
  catalog::Reading receive;
};
PcieThroughput read_pcie_throughput(Device& device);

}  // namespace everywatt::nvml
