// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/host/root.h"

namespace everywatt::host {

// An InfiniBand (or RoCE) port of /sys/class/infiniband. What the adapter does not offer is absent.
struct InfinibandPort {
  std::string name;  // "mlx5_0/1": adapter and port
  std::optional<std::uint64_t> received_bytes;
  std::optional<std::uint64_t> sent_bytes;
  std::optional<std::uint64_t> received_errors;
  std::optional<std::uint64_t> sent_discards;
  std::optional<std::uint64_t> link_downs;
  std::optional<std::uint64_t> link_recoveries;
  std::optional<std::uint64_t> symbol_errors;
  std::optional<unsigned> state;  // 1 down, 2 init, 3 armed, 4 active
  std::optional<double> rate_bytes_per_second;
};

// Names of all ports, sorted. Empty: the machine has none.
std::vector<std::string> list_infiniband(const Root& root);

// Reads a port that list_infiniband() named.
InfinibandPort read_infiniband(const Root& root, const std::string& name);

// "4: ACTIVE" -> 4; "400 Gb/sec (4X NDR)" -> 5e10.
std::optional<unsigned> parse_port_state(std::string_view text);
std::optional<double> parse_port_rate(std::string_view text);

}  // namespace everywatt::host
