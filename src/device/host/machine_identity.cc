// SPDX-License-Identifier: Apache-2.0
#include "device/host/machine_identity.h"

#include "base/text.h"
#include "device/host/lines.h"

namespace everywatt::host {
namespace {

constexpr std::size_t kTextBytes = 64;

}  // namespace

MachineIdentity read_machine_identity(const Root& root) {
  const auto line = [&](std::string_view file) {
    const auto text = root.read(file);
    return text ? base::clean_text(base::trim(*text), kTextBytes) : std::string();
  };
  MachineIdentity identity;
  identity.name = line("/proc/sys/kernel/hostname");
  if (identity.name.empty()) identity.name = line("/etc/hostname");
  identity.kernel_version = line("/proc/sys/kernel/osrelease");
  if (const auto text = root.read("/etc/os-release")) {
    identity.operating_system = parse_os_release(*text);
  }
  if (const auto text = root.read("/proc/cpuinfo")) identity.cpu_model = parse_cpu_model(*text);
  return identity;
}

std::string parse_os_release(std::string_view os_release) {
  while (!os_release.empty()) {
    std::string_view value = take_until(os_release, '\n');
    if (take_until(value, '=') != "PRETTY_NAME") continue;
    value = base::trim(value);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return base::clean_text(value, kTextBytes);
  }
  return {};
}

std::string parse_cpu_model(std::string_view cpuinfo) {
  while (!cpuinfo.empty()) {
    std::string_view value = take_until(cpuinfo, '\n');
    const std::string_view key = base::trim(take_until(value, ':'));
    if (key == "model name" || key == "Model")
      return base::clean_text(base::trim(value), kTextBytes);
  }
  return {};
}

}  // namespace everywatt::host
