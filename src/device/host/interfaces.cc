// SPDX-License-Identifier: Apache-2.0
#include "device/host/interfaces.h"

#include <array>

#include "base/text.h"
#include "device/host/lines.h"

namespace everywatt::host {
namespace {

bool is_left_out(std::string_view name) {
  if (name == "lo") return true;
  for (const std::string_view prefix :
       {"veth",   "cali",   "lxc",   "tap",    "vnet",    "ifb",         "dummy",
        "tunl",   "gre",    "sit",   "ip6tnl", "erspan",  "ip_vti",      "ip6_vti",
        "docker", "cni",    "br-",   "virbr",  "flannel", "kube-",       "eni",
        "azv",    "cilium", "vxlan", "genev",  "ovs",     "nodelocaldns"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

void parse_interfaces(std::string_view net_dev, std::vector<Interface>& interfaces) {
  interfaces.clear();
  while (!net_dev.empty()) {
    std::string_view line = take_until(net_dev, '\n');
    // Names may hold colons (aliases); the numbers never do.
    const auto colon = line.rfind(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = base::trim(line.substr(0, colon));
    line.remove_prefix(colon + 1);
    if (name.empty() || is_left_out(name)) continue;
    std::array<std::uint64_t, 16> numbers{};
    bool is_complete = true;
    for (std::uint64_t& number : numbers) {
      const auto value = take_u64(line);
      is_complete = is_complete && value.has_value();
      number = value.value_or(0);
    }
    if (!is_complete) continue;
    interfaces.push_back({.name = name,
                          .received_bytes = numbers[0],
                          .received_packets = numbers[1],
                          .received_errors = numbers[2],
                          .received_drops = numbers[3],
                          .sent_bytes = numbers[8],
                          .sent_packets = numbers[9],
                          .sent_errors = numbers[10],
                          .sent_drops = numbers[11]});
  }
}

}  // namespace everywatt::host
