// SPDX-License-Identifier: Apache-2.0
#include "app/device_names.h"

namespace everywatt::app {

DeviceNames::DeviceNames(const view::View& view) {
  for (unsigned scope = 0; scope < catalog::kScopeCount; ++scope) {
    for (view::Device& device : view::devices(view, static_cast<catalog::Scope>(scope))) {
      devices_.emplace(device.slot, std::move(device));
    }
  }
}

const view::Device* DeviceNames::find(std::uint32_t slot) const {
  const auto found = devices_.find(slot);
  return found == devices_.end() ? nullptr : &found->second;
}

std::string DeviceNames::label(std::uint32_t slot) const {
  const view::Device* device = find(slot);
  return device == nullptr ? "" : device->label();
}

}  // namespace everywatt::app
