// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace everywatt::host {

// A network interface since it came up.
struct Interface {
  std::string_view name;  // a view into the text
  std::uint64_t received_bytes = 0;
  std::uint64_t received_packets = 0;
  std::uint64_t received_errors = 0;
  std::uint64_t received_drops = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t sent_packets = 0;
  std::uint64_t sent_errors = 0;
  std::uint64_t sent_drops = 0;
};

// The interfaces of /proc/net/dev into `interfaces`, in its order: those that carry the machine's
// traffic. Left out are the loopback and the ends of containers and tunnels, which come by hundreds
// and count the same bytes again. Lines that are not of the format are skipped.
void parse_interfaces(std::string_view net_dev, std::vector<Interface>& interfaces);

}  // namespace everywatt::host
