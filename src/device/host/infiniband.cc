// SPDX-License-Identifier: Apache-2.0
#include "device/host/infiniband.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "device/host/folder.h"
#include "device/host/lines.h"

namespace everywatt::host {
namespace {

constexpr std::string_view kClass = "/sys/class/infiniband";

}  // namespace

std::vector<std::string> list_infiniband(const Root& root) {
  std::vector<std::string> ports;
  for (const std::string& adapter : list_folder(root, kClass)) {
    const std::string folder = std::string(kClass) + "/" + adapter + "/ports";
    for (const std::string& port : list_folder(root, folder))
      ports.push_back(adapter + "/" + port);
  }
  return ports;
}

InfinibandPort read_infiniband(const Root& root, const std::string& name) {
  const auto slash = name.find('/');
  const std::string folder =
      std::string(kClass) + "/" + name.substr(0, slash) + "/ports/" + name.substr(slash + 1);
  const auto number = [&](std::string_view file) -> std::optional<std::uint64_t> {
    const auto text = root.read(folder + "/counters/" + std::string(file), 64);
    return text ? base::parse_u64(base::trim(*text)) : std::nullopt;
  };
  InfinibandPort port;
  port.name = name;
  // The port counts in words of 4 bytes, one for each of its 4 lanes.
  port.received_bytes = scaled(number("port_rcv_data"), 4);
  port.sent_bytes = scaled(number("port_xmit_data"), 4);
  port.received_errors = number("port_rcv_errors");
  port.sent_discards = number("port_xmit_discards");
  port.link_downs = number("link_downed");
  port.link_recoveries = number("link_error_recovery");
  port.symbol_errors = number("symbol_error");
  if (const auto text = root.read(folder + "/state", 64)) port.state = parse_port_state(*text);
  if (const auto text = root.read(folder + "/rate", 64)) {
    port.rate_bytes_per_second = parse_port_rate(*text);
  }
  return port;
}

std::optional<unsigned> parse_port_state(std::string_view text) {
  const auto number = base::parse_u64(base::trim(take_until(text, ':')));
  if (!number || *number > 5) return std::nullopt;
  return static_cast<unsigned>(*number);
}

std::optional<double> parse_port_rate(std::string_view text) {
  const auto gigabits = base::parse_f64(take_word(text));
  if (!gigabits || *gigabits < 0 || take_word(text) != "Gb/sec") return std::nullopt;
  return *gigabits * 1e9 / 8;
}

}  // namespace everywatt::host
