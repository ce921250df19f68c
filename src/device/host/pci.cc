// SPDX-License-Identifier: Apache-2.0
#include "device/host/pci.h"

#include <unistd.h>

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "device/host/folder.h"

namespace everywatt::host {
namespace {

constexpr std::string_view kBus = "/sys/bus/pci/devices/";

std::optional<unsigned> parse_hex(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  unsigned value = 0;
  const auto end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

PowerState parse_power(std::string_view text) {
  if (text == "active") return PowerState::kActive;
  if (text == "suspended") return PowerState::kSuspended;
  if (text == "suspending" || text == "resuming") return PowerState::kChanging;
  return PowerState::kUnknown;
}

}  // namespace

std::vector<PciGpu> list_gpus(const Root& root) {
  std::vector<PciGpu> gpus;
  for (const std::string& name : list_folder(root, kBus)) {
    const std::string folder = std::string(kBus) + name;
    const auto read = [&](std::string_view file) {
      const auto text = root.read(folder + "/" + std::string(file), 64);
      return text ? std::string(base::trim(*text)) : std::string();
    };
    const auto address = normalize_address(name);
    if (!address || parse_hex(read("vendor")) != 0x10de) continue;
    // 0x0300xx is a display controller, 0x0302xx one without a display. A GPU's audio function and
    // NVSwitches (0x0680xx) have other classes.
    const unsigned device_class = parse_hex(read("class")).value_or(0) >> 8;
    if (device_class != 0x0300 && device_class != 0x0302) continue;
    PciGpu gpu;
    gpu.address = *address;
    gpu.device_id = static_cast<std::uint16_t>(parse_hex(read("device")).value_or(0));
    const auto node = base::parse_i64(read("numa_node"));
    if (node && *node >= 0) gpu.numa_node = static_cast<int>(*node);  // -1: not said
    gpu.power = parse_power(read("power/runtime_status"));
    std::array<char, 256> link{};
    const ssize_t length =
        ::readlink(root.path(folder + "/driver").c_str(), link.data(), link.size());
    gpu.has_driver =
        length > 0 &&
        std::string_view(link.data(), static_cast<std::size_t>(length)).ends_with("/nvidia");
    gpus.push_back(gpu);
  }
  return gpus;
}

std::optional<std::string> normalize_address(std::string_view text) {
  unsigned function = 0;
  const auto dot = text.find('.');
  if (dot != std::string_view::npos) {
    const auto value = parse_hex(text.substr(dot + 1));
    if (!value || *value > 7) return std::nullopt;
    function = *value;
    text = text.substr(0, dot);
  }
  const auto parts = base::split(text, ':');
  if (parts.size() != 2 && parts.size() != 3) return std::nullopt;
  const auto domain = parts.size() == 3 ? parse_hex(parts[0]) : std::optional<unsigned>(0);
  const auto bus = parse_hex(parts[parts.size() - 2]);
  const auto device = parse_hex(parts.back());
  if (!domain || !bus || !device || *bus > 0xff || *device > 0x1f) return std::nullopt;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *domain, *bus, *device, function);
}

}  // namespace everywatt::host
