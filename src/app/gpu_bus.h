// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "device/host/root.h"

namespace everywatt::app {

// The GPUs on the PCI bus, asked for again and again: reads what the devices are only when their
// names have changed, which makes it cheap (some 50 us on a large machine). One thread.
class GpuBus {
 public:
  explicit GpuBus(host::Root root) : root_(std::move(root)) {}

  // Their addresses in bus order. Empty: none, or no bus to be seen.
  std::vector<std::string> list();

 private:
  host::Root root_;
  std::vector<std::string> names_;
  std::vector<std::string> gpus_;
  bool is_settled_ = false;
};

}  // namespace everywatt::app
