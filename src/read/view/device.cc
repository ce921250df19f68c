// SPDX-License-Identifier: Apache-2.0
#include "read/view/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"

namespace everywatt::view {
namespace {

using catalog::Scope;
using catalog::State;

struct StatusNames {
  DeviceStatus status;
  std::string_view name;
  State state;
};
constexpr std::array<StatusNames, 8> kStatuses{{
    {DeviceStatus::kUnused, "unused", State::kNotRead},
    {DeviceStatus::kOk, "ok", State::kOk},
    {DeviceStatus::kLost, "lost", State::kLost},
    {DeviceStatus::kTimedOut, "timed_out", State::kTimedOut},
    {DeviceStatus::kDrained, "drained", State::kDrained},
    {DeviceStatus::kGone, "gone", State::kLost},
    {DeviceStatus::kFailed, "failed", State::kFailed},
    {DeviceStatus::kSuspended, "suspended", State::kNotRead},
}};

constexpr std::array<std::string_view, recorder::kPartCount> kPartNames{"supervisor", "sampler",
                                                                        "host", "server"};

// The text metric that names a device of a scope.
std::string_view name_metric(Scope scope) {
  switch (scope) {
    case Scope::kGpu:
      return "gpu_name";
    case Scope::kDisk:
      return "host_disk_name";
    case Scope::kInterface:
      return "host_interface_name";
    case Scope::kInfiniband:
      return "host_infiniband_name";
    case Scope::kNode:
    case Scope::kPart:
      return {};
  }
  return {};
}

std::string text_by_name(const View& view, std::uint32_t slot, std::string_view name) {
  const auto id = catalog::metric_by_name(name);
  if (!id || catalog::metric(*id).type != catalog::Type::kText) return {};
  return view.text(slot, *id);
}

Device make_device(const View& view, const recorder::Device& source) {
  Device device{.slot = source.slot,
                .scope = source.scope,
                .index = source.index,
                .parent = std::nullopt,
                .parent_index = 0,
                .status = source.status,
                .status_since_ns = source.status_since_ns,
                .generation = source.generation,
                .call = source.call,
                .call_since_ns = source.call_since_ns,
                .name = text_by_name(view, source.slot, name_metric(source.scope)),
                .uuid = {},
                .pci_address = {}};
  if (source.parent < view.recorder().device_count()) {
    device.parent = source.parent;
    device.parent_index = view.recorder().device(source.parent).index;
  }
  if (source.scope == Scope::kGpu) {
    device.uuid = text_by_name(view, source.slot, "gpu_uuid");
    device.pci_address = text_by_name(view, source.slot, "gpu_pci_address");
  }
  if (source.scope == Scope::kPart && source.index < kPartNames.size()) {
    device.name = kPartNames[source.index];
  }
  return device;
}

struct PciAddress {
  std::optional<std::uint64_t> domain;
  std::uint64_t bus = 0, slot = 0, function = 0;
};

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (text.empty() || text.size() > 8) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : base::to_lower(text)) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) return std::nullopt;
    value = value * 16 + static_cast<std::uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
  }
  return value;
}

// "00000000:06:00.0", "0000:06:00.0", "06:00.0", "0000:06:00". Not "6:0": that is a MIG instance.
std::optional<PciAddress> parse_pci(std::string_view text) {
  PciAddress address;
  const std::size_t dot = text.find('.');
  if (dot != text.npos) {
    const auto function = parse_hex(text.substr(dot + 1));
    if (!function) return std::nullopt;
    address.function = *function;
  }
  const auto parts = base::split(text.substr(0, dot), ':');
  if (parts.size() != 3 && !(parts.size() == 2 && dot != text.npos)) return std::nullopt;
  const auto slot = parse_hex(parts.back());
  const auto bus = parse_hex(parts[parts.size() - 2]);
  if (!slot || !bus) return std::nullopt;
  if (parts.size() == 3) {
    address.domain = parse_hex(parts[0]);
    if (!address.domain) return std::nullopt;
  }
  address.bus = *bus;
  address.slot = *slot;
  return address;
}

bool is_same_place(const PciAddress& wanted, std::string_view known) {
  const auto address = parse_pci(known);
  if (!address) return false;
  if (wanted.domain && wanted.domain != address->domain) return false;
  return std::tie(wanted.bus, wanted.slot, wanted.function) ==
         std::tie(address->bus, address->slot, address->function);
}

std::string_view without_prefix(std::string_view uuid) {
  const bool has = uuid.starts_with("gpu-") || uuid.starts_with("mig-");
  return has ? uuid.substr(4) : uuid;
}

bool starts_uuid(std::string_view uuid, std::string_view wanted) {
  if (wanted.empty() || uuid.empty()) return false;
  if (uuid.starts_with(wanted)) return wanted.size() > 4 || !wanted.ends_with('-');
  return without_prefix(uuid).starts_with(wanted);
}

// "0 (GPU-8f6d2c41-...), 0:1 (MIG-...)": what can be asked for.
std::string list_gpus(std::span<const Device> gpus) {
  constexpr std::size_t kShown = 8;
  if (gpus.empty()) return "there is none";
  std::string text = "there are ";
  for (std::size_t i = 0; i < std::min(gpus.size(), kShown); ++i) {
    const Device& gpu = gpus[i];
    if (i > 0) text += ", ";
    text += gpu.is_mig() ? fmt::format("{}:{}", gpu.parent_index, gpu.index)
                         : fmt::format("{}", gpu.index);
    if (!gpu.uuid.empty()) text += fmt::format(" ({})", gpu.uuid);
  }
  if (gpus.size() > kShown) text += fmt::format(" and {} more", gpus.size() - kShown);
  return text;
}

// Indexes are exact: nothing else may be meant by them.
std::optional<std::vector<Device>> match_index(std::span<const Device> gpus,
                                               std::string_view text) {
  const auto parts = base::split(text, ':');
  const auto first = base::parse_u64(parts[0]);
  if (!first || parts.size() > 2 || parts[0].size() > 6) return std::nullopt;
  const auto second = parts.size() == 2 ? base::parse_u64(parts[1]) : std::nullopt;
  if (parts.size() == 2 && !second) return std::nullopt;
  std::vector<Device> found;
  for (const Device& gpu : gpus) {
    const bool matches = second ? gpu.is_mig() && gpu.parent_index == *first && gpu.index == *second
                                : !gpu.is_mig() && gpu.index == *first;
    if (matches) found.push_back(gpu);
  }
  // The driver numbers the GPUs that it could start; one that it could not has its place's number.
  const bool has_named =
      std::ranges::any_of(found, [](const Device& gpu) { return !gpu.uuid.empty(); });
  if (has_named) std::erase_if(found, [](const Device& gpu) { return gpu.uuid.empty(); });
  // A number passes on to another when who had it is gone.
  const auto is_gone = [](const Device& gpu) { return gpu.status == DeviceStatus::kGone; };
  if (!std::ranges::all_of(found, is_gone)) std::erase_if(found, is_gone);
  return found;
}

std::vector<Device> match_name(std::span<const Device> gpus, std::string_view text) {
  const std::string wanted = base::to_lower(text);
  const auto pci = parse_pci(wanted);
  std::vector<Device> found;
  for (const Device& gpu : gpus) {
    const std::string uuid = base::to_lower(gpu.uuid);
    if (!uuid.empty() && uuid == wanted) return {gpu};
    // A MIG instance has the address of its GPU; the GPU is meant.
    const bool is_there = pci && !gpu.is_mig() && is_same_place(*pci, gpu.pci_address);
    if (is_there || starts_uuid(uuid, wanted)) found.push_back(gpu);
  }
  return found;
}

}  // namespace

std::string Device::label() const {
  if (scope != Scope::kGpu) return name.empty() ? "machine" : name;
  if (is_mig()) return fmt::format("GPU {} MIG {}", parent_index, index);
  return fmt::format("GPU {}", index);
}

std::vector<Device> devices(const View& view, Scope scope) {
  std::vector<Device> found;
  for (const recorder::Device& device : view.recorder().devices()) {
    if (device.scope == scope) found.push_back(make_device(view, device));
  }
  std::ranges::stable_sort(found, {}, [](const Device& device) {
    return std::tuple(device.is_mig() ? device.parent_index : device.index, device.is_mig(),
                      device.index);
  });
  return found;
}

std::vector<Device> present_gpus(const View& view) {
  std::vector<Device> found = gpus(view);
  std::erase_if(
      found, [](const Device& gpu) { return gpu.is_mig() && gpu.status == DeviceStatus::kGone; });
  return found;
}

std::uint64_t device_changes(const View& view) {
  const recorder::Reader& reader = view.recorder();
  auto changes = static_cast<std::uint64_t>(reader.created_ns());
  for (const recorder::Device& device : reader.devices()) {
    // Statuses and counts would make up for each other in a plain sum.
    const auto ring = reader.find_ring(device.slot, catalog::Lane::kOnce);
    for (const std::uint64_t part :
         {std::uint64_t{device.slot}, static_cast<std::uint64_t>(device.status), device.generation,
          std::uint64_t{device.index}, ring ? view.end_at(*ring, view.now_ns()) : 0}) {
      changes = (changes ^ part) * 0x9e37'79b9'7f4a'7c15;
      changes ^= changes >> 29;
    }
  }
  return changes;
}

std::optional<std::uint32_t> node(const View& view) {
  for (const recorder::Device& device : view.recorder().devices()) {
    if (device.scope == Scope::kNode) return device.slot;
  }
  return std::nullopt;
}

base::Result<Device> find_gpu(std::span<const Device> gpus, std::string_view text) {
  text = base::trim(text);
  std::vector<Device> found;
  if (auto by_index = match_index(gpus, text)) found = std::move(*by_index);
  if (found.empty()) found = match_name(gpus, text);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return base::fail(
        base::Code::kNotFound,
        fmt::format("no GPU '{}' here: {}", base::clean_text(text, 80), list_gpus(gpus)));
  }
  return base::fail(
      base::Code::kInvalidArgument,
      fmt::format("'{}' is not one GPU: {}", base::clean_text(text, 80), list_gpus(found)));
}

std::string_view status_name(DeviceStatus status) {
  for (const StatusNames& known : kStatuses) {
    if (known.status == status) return known.name;
  }
  return "unknown";
}

bool is_away(DeviceStatus status) {
  switch (status) {
    case DeviceStatus::kLost:
    case DeviceStatus::kTimedOut:
    case DeviceStatus::kDrained:
    case DeviceStatus::kGone:
    case DeviceStatus::kSuspended:
      return true;
    case DeviceStatus::kUnused:
    case DeviceStatus::kOk:
    case DeviceStatus::kFailed:
      return false;
  }
  return false;
}

State status_state(DeviceStatus status) {
  for (const StatusNames& known : kStatuses) {
    if (known.status == status) return known.state;
  }
  return State::kFailed;
}

}  // namespace everywatt::view
