// SPDX-License-Identifier: Apache-2.0
//
// NVLinks, as the scenario lays them out. The recorded machine had one GPU without links.
#include "device/sim/nvlinks.h"

#include <cstdio>

#include "device/sim/library/driver.h"
#include "device/sim/library/library.h"

using namespace everywatt::sim;
using abi::Device;
using abi::PciInfo;
using abi::Return;

namespace {

// Where the switches of a machine are on the bus, and their number there.
constexpr unsigned kSwitchBus = 0xc0;
constexpr unsigned kSwitchId = 0x22a3'10de;
constexpr unsigned kCpuBus = 0xf0;
constexpr unsigned kCpuId = 0x04ea'1014;

// `body(gpu, link now, moment)` runs for a link that the GPU has and that the driver knows of.
template <typename Body>
Return on_link(Call call, Device device, unsigned link, Body body) {
  const Entry entry = enter(call, device);
  if (entry.outcome) return *entry.outcome;
  const Scenario& scenario = entry.library->scenario();
  const std::uint32_t links = count_links(scenario, entry.gpu->number());
  if (links == 0) return Return::kNotSupported;
  if (link >= links) return Return::kInvalidArgument;
  const LinkNow now = link_at(scenario, entry.gpu->number(), link, entry.moment.played_ns);
  if (now.state == LinkState::kUnknown) return Return::kUnknown;
  return body(entry, now);
}

// Older programs know the short form alone.
enum class BusId { kShort, kBoth };

// The driver knows what is at the other end of a link while it is up.
Return remote_pci(Call call, Device device, unsigned link, PciInfo* pci, BusId bus_id) {
  return on_link(call, device, link, [&](const Entry& entry, const LinkNow& now) {
    if (!pci) return Return::kInvalidArgument;
    if (now.state != LinkState::kUp || !now.remote) return Return::kNotSupported;
    unsigned bus = kCpuBus;
    unsigned id = kCpuId;
    if (now.remote->kind == Remote::Kind::kGpu) {
      const Gpu& other = *entry.library->gpus()[now.remote->number];
      bus = other.pci_bus();
      id = other.profile().pci_device_id;
    } else if (now.remote->kind == Remote::Kind::kSwitch) {
      bus = kSwitchBus + now.remote->number;
      id = kSwitchId;
    }
    *pci = {.bus_id_legacy = {},
            .domain = 0,
            .bus = bus,
            .device = 0,
            .pci_device_id = id,
            .pci_subsystem_id = 0,
            .bus_id = {}};
    std::snprintf(pci->bus_id_legacy, sizeof pci->bus_id_legacy, "0000:%02x:00.0", bus);
    if (bus_id == BusId::kBoth) {
      std::snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02x:00.0", bus);
    }
    return Return::kSuccess;
  });
}

unsigned remote_type(const LinkNow& now) {
  if (now.state != LinkState::kUp || !now.remote) return abi::nvlink_remote::kUnknown;
  switch (now.remote->kind) {
    case Remote::Kind::kGpu:
      return abi::nvlink_remote::kGpu;
    case Remote::Kind::kSwitch:
      return abi::nvlink_remote::kSwitch;
    case Remote::Kind::kCpu:
      break;
  }
  return abi::nvlink_remote::kIbmNpu;
}

}  // namespace

namespace everywatt::sim::driver {

Return nvmlDeviceGetNvLinkState(Device device, unsigned link, unsigned* is_up) {
  return on_link("nvmlDeviceGetNvLinkState", device, link, [&](const Entry&, const LinkNow& now) {
    if (!is_up) return Return::kInvalidArgument;
    *is_up = now.state == LinkState::kUp ? 1 : 0;
    return Return::kSuccess;
  });
}
Return nvmlDeviceGetNvLinkVersion(Device device, unsigned link, unsigned* version) {
  return on_link("nvmlDeviceGetNvLinkVersion", device, link, [&](const Entry&, const LinkNow& now) {
    if (!version) return Return::kInvalidArgument;
    *version = now.version;
    return Return::kSuccess;
  });
}
Return nvmlDeviceGetNvLinkCapability(Device device, unsigned link, abi::Selector capability,
                                     unsigned* result) {
  return on_link("nvmlDeviceGetNvLinkCapability", device, link, [&](const Entry&, const LinkNow&) {
    if (!result || capability > abi::nvlink_capability::kValid) return Return::kInvalidArgument;
    *result = capability == abi::nvlink_capability::kSliBridge ? 0 : 1;
    return Return::kSuccess;
  });
}
Return nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, PciInfo* pci) {
  return remote_pci("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link, pci, BusId::kBoth);
}
Return nvmlDeviceGetNvLinkRemotePciInfo(Device device, unsigned link, PciInfo* pci) {
  return remote_pci("nvmlDeviceGetNvLinkRemotePciInfo", device, link, pci, BusId::kShort);
}
Return nvmlDeviceGetNvLinkRemoteDeviceType(Device device, unsigned link, unsigned* type) {
  return on_link("nvmlDeviceGetNvLinkRemoteDeviceType", device, link,
                 [&](const Entry&, const LinkNow& now) {
                   if (!type) return Return::kInvalidArgument;
                   *type = remote_type(now);
                   return Return::kSuccess;
                 });
}
Return nvmlDeviceGetNvLinkErrorCounter(Device device, unsigned link, abi::Selector error,
                                       unsigned long long* errors) {
  return on_link(
      "nvmlDeviceGetNvLinkErrorCounter", device, link, [&](const Entry& entry, const LinkNow&) {
        if (!errors || error > abi::nvlink_error::kEccData) {
          return Return::kInvalidArgument;
        }
        const LinkTotals totals = link_totals(entry.library->scenario(), entry.gpu->number(), link,
                                              entry.moment.played_ns);
        *errors = totals.errors_of(error);
        return Return::kSuccess;
      });
}

Return nvmlDeviceGetP2PStatus(Device first, Device second, abi::Selector caps, unsigned* status) {
  const Entry entry = enter("nvmlDeviceGetP2PStatus", first);
  if (entry.outcome) return *entry.outcome;
  const Gpu* other = entry.library->find(second);
  if (!other || !status) return Return::kInvalidArgument;
  const bool is_linked = are_linked(entry.library->scenario(), entry.gpu->number(), other->number(),
                                    entry.moment.played_ns);
  *status = caps == abi::p2p_caps::kNvLink && !is_linked ? abi::p2p_status::kNotSupported
                                                         : abi::p2p_status::kOk;
  return Return::kSuccess;
}

}  // namespace everywatt::sim::driver
