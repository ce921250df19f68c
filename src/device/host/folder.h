// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/host/root.h"

namespace everywatt::host {

// Names in a folder, sorted, without "." and "..", at most 65536 of them. Empty when it cannot be
// read: what is not there has nothing in it.
std::vector<std::string> list_folder(const Root& root, std::string_view absolute);

}  // namespace everywatt::host
