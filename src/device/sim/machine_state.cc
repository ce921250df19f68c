// SPDX-License-Identifier: Apache-2.0
#include "device/sim/machine_state.h"

#include <algorithm>

namespace everywatt::sim {
namespace {

// The entry that began last of those that have begun; null: none has.
template <typename Entry>
const Entry* newest(const std::vector<Entry>& entries, std::int64_t Entry::* begin,
                    std::int64_t played_ns) {
  const Entry* found = nullptr;
  for (const Entry& entry : entries) {
    if (entry.*begin > played_ns) continue;
    if (!found || entry.*begin >= found->*begin) found = &entry;
  }
  return found;
}

}  // namespace

bool is_present(const Scenario& scenario, std::uint32_t gpu, std::int64_t played_ns) {
  return scenario.devices[gpu].present.holds(played_ns);
}

std::vector<std::uint32_t> indexed_gpus(const Scenario& scenario, std::int64_t played_ns) {
  std::vector<std::uint32_t> gpus;
  const OrderEntry* order = newest(scenario.orders, &OrderEntry::at_ns, played_ns);
  for (std::uint32_t i = 0; i < scenario.devices.size(); ++i) {
    const std::uint32_t gpu = order ? order->gpus[i] : i;
    if (is_present(scenario, gpu, played_ns)) gpus.push_back(gpu);
  }
  return gpus;
}

std::optional<std::uint32_t> index_of(const Scenario& scenario, std::uint32_t gpu,
                                      std::int64_t played_ns) {
  const std::vector<std::uint32_t> gpus = indexed_gpus(scenario, played_ns);
  const auto found = std::find(gpus.begin(), gpus.end(), gpu);
  if (found == gpus.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - gpus.begin());
}

std::string driver_version(const Scenario& scenario, std::int64_t played_ns) {
  const DriverEntry* driver = newest(scenario.drivers, &DriverEntry::from_ns, played_ns);
  return driver ? driver->version : scenario.driver_version;
}

std::string nvml_version(const Scenario& scenario, std::int64_t played_ns) {
  const DriverEntry* driver = newest(scenario.drivers, &DriverEntry::from_ns, played_ns);
  // The interface's number stands before the driver's.
  return driver ? scenario.nvml_version.substr(0, scenario.nvml_version.find('.') + 1) +
                      driver->version
                : scenario.nvml_version;
}

const LibraryEntry* library_trouble(const Scenario& scenario, std::int64_t played_ns) {
  const auto found =
      std::find_if(scenario.libraries.begin(), scenario.libraries.end(),
                   [&](const LibraryEntry& entry) { return entry.span.holds(played_ns); });
  return found == scenario.libraries.end() ? nullptr : &*found;
}

std::uint64_t driver_changes(const Scenario& scenario, std::int64_t played_ns) {
  std::uint64_t changes = 0;
  for (const DriverEntry& driver : scenario.drivers)
    changes += driver.from_ns <= played_ns ? 1 : 0;
  for (const LibraryEntry& entry : scenario.libraries) {
    if (!entry.not_loaded) continue;
    changes += entry.span.from_ns <= played_ns ? 1 : 0;
    changes += entry.span.until_ns <= played_ns ? 1 : 0;
  }
  return changes;
}

}  // namespace everywatt::sim
