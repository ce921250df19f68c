// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/view/device.h"

namespace everywatt::view {

// What was told last of why a device, a GPU in most cases, cannot be read as it is now: the text of
// an event about it or about the driver as a whole; "" when it can be, or nothing was told. Costs a
// look through the latest events.
std::string find_cause(const View& view, const Device& device);

}  // namespace everywatt::view
