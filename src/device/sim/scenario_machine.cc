// SPDX-License-Identifier: Apache-2.0
//
// The sections of a scenario that speak of the machine: the order of its GPUs, its driver, its
// kernel's log.
#include <algorithm>
#include <numeric>

#include "device/sim/scenario_keys.h"

namespace everywatt::sim {
namespace {

// "2,0,1"
Setter numbers(std::vector<std::uint32_t>& target) {
  return [&target](std::string_view value) -> Problem {
    target.clear();
    for (const std::string_view part : base::split(value, ',')) {
      const std::optional<std::uint64_t> number = base::parse_u64(base::trim(part));
      if (!number || *number > 1023) return "not numbers with commas between";
      target.push_back(static_cast<std::uint32_t>(*number));
    }
    return std::nullopt;
  };
}

bool is_order_of(std::size_t count, std::vector<std::uint32_t> gpus) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0u);
  std::sort(gpus.begin(), gpus.end());
  return gpus == all;
}

}  // namespace

Section begin_order(Scenario& scenario) {
  OrderEntry& order = scenario.orders.emplace_back();
  return {.keys = {{"at_ms", milliseconds(order.at_ns)}, {"order", numbers(order.gpus)}},
          .required = {"at_ms", "order"}};
}

Section begin_library(Scenario& scenario) {
  LibraryEntry& library = scenario.libraries.emplace_back();
  Section section{.keys = {{"absent", truth(library.absent)},
                           {"mismatch", truth(library.mismatch)},
                           {"not_loaded", truth(library.not_loaded)}},
                  .required = {}};
  add_span(section.keys, library.span);
  return section;
}

Section begin_driver(Scenario& scenario) {
  DriverEntry& driver = scenario.drivers.emplace_back();
  return {.keys = {{"from_ms", milliseconds(driver.from_ns)}, {"version", text(driver.version)}},
          .required = {"from_ms", "version"}};
}

Section begin_kernel_line(Scenario& scenario) {
  KernelLineEntry& line = scenario.kernel_lines.emplace_back();
  return {.keys = {{"at_ms", milliseconds(line.at_ns)},
                   {"priority", whole(line.priority)},
                   {"text", text(line.text)}},
          .required = {"at_ms", "text"}};
}

Problem check_machine(const Scenario& scenario) {
  for (const OrderEntry& order : scenario.orders) {
    if (!is_order_of(scenario.devices.size(), order.gpus)) {
      return "an [[order]] that does not name each [[device]] once";
    }
  }
  for (const LibraryEntry& library : scenario.libraries) {
    if (library.absent + library.mismatch + library.not_loaded != 1) {
      return "a [[library]] that is not just one of absent, mismatch and not_loaded";
    }
  }
  for (const FaultEntry& fault : scenario.faults) {
    if (fault.garbage && (fault.return_code || fault.crash)) {
      return "a [[fault]] with garbage has neither a return code nor a crash";
    }
  }
  return std::nullopt;
}

}  // namespace everywatt::sim
