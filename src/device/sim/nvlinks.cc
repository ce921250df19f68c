// SPDX-License-Identifier: Apache-2.0
#include "device/sim/nvlinks.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "device/nvml/abi.h"
#include "device/sim/profile.h"

namespace everywatt::sim {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

const Profile& profile_of(const Scenario& scenario, std::uint32_t gpu) {
  return *profile_by_key(scenario.devices[gpu].profile);
}

bool concerns(const LinkEntry& entry, std::uint32_t gpu, std::uint32_t link) {
  return (!entry.gpu || *entry.gpu == gpu) && (!entry.link || *entry.link == link);
}

// Whole units that `per_second` makes in `ns`. Without a product that could overflow.
std::uint64_t grown(std::uint64_t per_second, std::int64_t ns) {
  const auto seconds = static_cast<std::uint64_t>(ns / kNsPerSecond);
  const auto rest = static_cast<double>(ns % kNsPerSecond) / static_cast<double>(kNsPerSecond);
  return per_second * seconds +
         static_cast<std::uint64_t>(static_cast<double>(per_second) * rest + 1e-6);
}

// The moments from 0 to `played_ns` between which nothing of that link changes.
std::vector<std::int64_t> changes(const Scenario& scenario, std::uint32_t gpu, std::uint32_t link,
                                  std::int64_t played_ns) {
  std::vector<std::int64_t> moments = {0, played_ns};
  for (const LinkEntry& entry : scenario.links) {
    if (!concerns(entry, gpu, link)) continue;
    for (const std::int64_t at_ns : {entry.span.from_ns, entry.span.until_ns}) {
      if (at_ns > 0 && at_ns < played_ns) moments.push_back(at_ns);
    }
  }
  std::sort(moments.begin(), moments.end());
  return moments;
}

}  // namespace

std::uint64_t LinkTotals::errors_of(unsigned kind) const {
  namespace error = nvml::abi::nvlink_error;
  switch (kind) {
    case error::kReplay:
    case error::kCrcFlit:
      return errors;
    case error::kRecovery:
      return errors / 10;
    case error::kCrcData:
      return errors / 100;
    default:
      return 0;
  }
}

LinkTotals& LinkTotals::operator+=(const LinkTotals& other) {
  errors += other.errors;
  sent_bytes += other.sent_bytes;
  received_bytes += other.received_bytes;
  return *this;
}

std::optional<Remote> parse_remote(std::string_view text) {
  if (text == "cpu") return Remote{.kind = Remote::Kind::kCpu, .number = 0};
  for (const auto& [prefix, kind] :
       {std::pair("gpu:", Remote::Kind::kGpu), std::pair("switch:", Remote::Kind::kSwitch)}) {
    if (!text.starts_with(prefix)) continue;
    const auto number = base::parse_u64(text.substr(std::string_view(prefix).size()));
    if (!number || *number > 63) return std::nullopt;
    return Remote{.kind = kind, .number = static_cast<std::uint32_t>(*number)};
  }
  return std::nullopt;
}

std::uint32_t count_links(const Scenario& scenario, std::uint32_t gpu) {
  const bool has_some =
      std::any_of(scenario.links.begin(), scenario.links.end(),
                  [gpu](const LinkEntry& entry) { return !entry.gpu || *entry.gpu == gpu; });
  return has_some ? profile_of(scenario, gpu).nvlinks : 0;
}

LinkNow link_at(const Scenario& scenario, std::uint32_t gpu, std::uint32_t link,
                std::int64_t played_ns) {
  LinkNow now;
  now.version = profile_of(scenario, gpu).nvlink_version;
  std::optional<std::uint64_t> received;
  for (const LinkEntry& entry : scenario.links) {
    if (!concerns(entry, gpu, link) || !entry.span.holds(played_ns)) continue;
    now.state = entry.state.value_or(now.state);
    now.version = entry.version.value_or(now.version);
    if (!entry.remote.empty()) now.remote = parse_remote(entry.remote);
    now.errors_per_second = entry.errors_per_second.value_or(now.errors_per_second);
    now.bytes_per_second = entry.bytes_per_second.value_or(now.bytes_per_second);
    if (entry.receive_bytes_per_second) received = entry.receive_bytes_per_second;
  }
  now.receive_bytes_per_second = received.value_or(now.bytes_per_second);
  return now;
}

LinkTotals link_totals(const Scenario& scenario, std::uint32_t gpu, std::uint32_t link,
                       std::int64_t played_ns) {
  LinkTotals totals;
  if (played_ns <= 0) return totals;
  const std::vector<std::int64_t> moments = changes(scenario, gpu, link, played_ns);
  for (std::size_t i = 1; i < moments.size(); ++i) {
    const std::int64_t ns = moments[i] - moments[i - 1];
    const LinkNow now = link_at(scenario, gpu, link, moments[i - 1]);
    if (ns <= 0 || now.state != LinkState::kUp) continue;
    totals.errors += grown(now.errors_per_second, ns);
    totals.sent_bytes += grown(now.bytes_per_second, ns);
    totals.received_bytes += grown(now.receive_bytes_per_second, ns);
  }
  return totals;
}

bool are_linked(const Scenario& scenario, std::uint32_t gpu, std::uint32_t other,
                std::int64_t played_ns) {
  const auto switches_of = [&](std::uint32_t number) {
    std::uint64_t switches = 0;
    for (std::uint32_t link = 0; link < count_links(scenario, number); ++link) {
      const LinkNow now = link_at(scenario, number, link, played_ns);
      if (now.state != LinkState::kUp || !now.remote) continue;
      if (now.remote->kind == Remote::Kind::kSwitch) switches |= 1ull << now.remote->number;
    }
    return switches;
  };
  for (std::uint32_t link = 0; link < count_links(scenario, gpu); ++link) {
    const LinkNow now = link_at(scenario, gpu, link, played_ns);
    if (now.state == LinkState::kUp && now.remote && now.remote->kind == Remote::Kind::kGpu &&
        now.remote->number == other) {
      return true;
    }
  }
  return (switches_of(gpu) & switches_of(other)) != 0;
}

}  // namespace everywatt::sim
