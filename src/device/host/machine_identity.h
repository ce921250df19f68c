// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "device/host/root.h"

namespace everywatt::host {

// What a machine is. What the root does not tell is empty.
struct MachineIdentity {
  std::string name;              // host name
  std::string kernel_version;    // "6.1.0-18-amd64"
  std::string operating_system;  // "Debian GNU/Linux 12 (bookworm)"
  std::string cpu_model;
};
MachineIdentity read_machine_identity(const Root& root);

// PRETTY_NAME of an os-release file; the model of the first CPU in /proc/cpuinfo.
std::string parse_os_release(std::string_view os_release);
std::string parse_cpu_model(std::string_view cpuinfo);

}  // namespace everywatt::host
