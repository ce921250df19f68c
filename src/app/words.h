// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/language.h"
#include "read/view/device.h"
#include "read/view/processes.h"

// Single words in tables for people. In English they are those that JSON has.
namespace everywatt::app {

std::string status_word(view::DeviceStatus status, Language language);
// How a process uses its GPU: "compute+mps".
std::string type_word(const view::Process& process, Language language);

}  // namespace everywatt::app
