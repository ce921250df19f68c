// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "device/sim/scenario.h"

namespace everywatt::sim {

// What is at the other end of a link.
struct Remote {
  enum class Kind { kGpu, kSwitch, kCpu };
  Kind kind = Kind::kGpu;
  std::uint32_t number = 0;
};
// "gpu:1", "switch:0", "cpu".
std::optional<Remote> parse_remote(std::string_view text);

// What is known of one link at a moment.
struct LinkNow {
  LinkState state = LinkState::kDown;
  std::uint32_t version = 0;
  std::optional<Remote> remote;
  std::uint64_t errors_per_second = 0;
  std::uint64_t bytes_per_second = 0;
  std::uint64_t receive_bytes_per_second = 0;
};

// What a link has counted since played time 0.
struct LinkTotals {
  // Flits with a wrong checksum. Each of them is sent again; every tenth lets the link recover,
  // every hundredth is a data packet's.
  std::uint64_t errors = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;

  // By nvml::abi::nvlink_error.
  std::uint64_t errors_of(unsigned kind) const;
  LinkTotals& operator+=(const LinkTotals& other);
};

// How many links that GPU has: as many as its profile, or none where the scenario speaks of none.
std::uint32_t count_links(const Scenario& scenario, std::uint32_t gpu);

LinkNow link_at(const Scenario& scenario, std::uint32_t gpu, std::uint32_t link,
                std::int64_t played_ns);
// Nothing is counted while a link is not up.
LinkTotals link_totals(const Scenario& scenario, std::uint32_t gpu, std::uint32_t link,
                       std::int64_t played_ns);

// Whether two GPUs reach each other over links that are up: directly, or by a switch that both are
// linked to.
bool are_linked(const Scenario& scenario, std::uint32_t gpu, std::uint32_t other,
                std::int64_t played_ns);

}  // namespace everywatt::sim
