// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "read/view/device.h"

namespace everywatt::app {

// What people call the device in a slot.
class DeviceNames {
 public:
  explicit DeviceNames(const view::View& view);
  std::string label(std::uint32_t slot) const;
  const view::Device* find(std::uint32_t slot) const;

 private:
  std::map<std::uint32_t, view::Device> devices_;
};

}  // namespace everywatt::app
