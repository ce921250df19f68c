// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/throughput.h"

namespace everywatt::nvml {
namespace {

catalog::Reading read_direction(Device& device, abi::Selector direction) {
  unsigned kib_per_second = 0;
  const abi::Return code = device.call<Call::kDeviceGetPcieThroughput>(direction, &kib_per_second);
  if (code != abi::Return::kSuccess) return catalog::Reading::absent(state_of(code));
  if (is_blank(kib_per_second)) return device.reject();
  return catalog::Reading::of(kib_per_second * 1024.0);
}

}  // namespace

PcieThroughput read_pcie_throughput(Device& device) {
  PcieThroughput throughput;
  throughput.transmit = read_direction(device, abi::pcie_counter::kTxBytes);
  throughput.receive = read_direction(device, abi::pcie_counter::kRxBytes);
  return throughput;
}

}  // namespace everywatt::nvml
