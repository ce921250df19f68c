// SPDX-License-Identifier: Apache-2.0
//
// [[nvlink]]
#include "device/sim/nvlinks.h"
#include "device/sim/profile.h"
#include "device/sim/scenario_keys.h"

namespace everywatt::sim {
namespace {

Setter link_number(std::optional<std::uint32_t>& target) {
  return [&target](std::string_view value) -> Problem {
    if (value == "all") return std::nullopt;
    const std::optional<std::uint64_t> number = base::parse_u64(value);
    if (!number || *number > 63) return "neither a link's number nor \"all\"";
    target = static_cast<std::uint32_t>(*number);
    return std::nullopt;
  };
}

template <typename T>
Setter maybe(std::optional<T>& target) {
  return [&target](std::string_view value) -> Problem {
    target.emplace();
    return whole(*target)(value);
  };
}

Setter remote(std::string& target) {
  return [&target](std::string_view value) -> Problem {
    if (!parse_remote(value)) return "neither \"gpu:N\", \"switch:N\" nor \"cpu\"";
    target = value;
    return std::nullopt;
  };
}

}  // namespace

Section begin_nvlink(Scenario& scenario) {
  LinkEntry& link = scenario.links.emplace_back();
  Section section{.keys = {{"gpu", which(link.gpu)},
                           {"link", link_number(link.link)},
                           {"state", word<std::optional<LinkState>>(
                                         link.state, {{"up", LinkState::kUp},
                                                      {"down", LinkState::kDown},
                                                      {"unknown", LinkState::kUnknown}})},
                           {"version", maybe(link.version)},
                           {"remote", remote(link.remote)},
                           {"errors_per_second", maybe(link.errors_per_second)},
                           {"bytes_per_second", maybe(link.bytes_per_second)},
                           {"receive_bytes_per_second", maybe(link.receive_bytes_per_second)}},
                  .required = {}};
  add_span(section.keys, link.span);
  return section;
}

Problem check_nvlinks(const Scenario& scenario) {
  for (const LinkEntry& entry : scenario.links) {
    const std::optional<Remote> remote = parse_remote(entry.remote);
    if (remote && remote->kind == Remote::Kind::kGpu && remote->number >= scenario.devices.size()) {
      return "the remote of an [[nvlink]] is no [[device]]";
    }
    for (std::uint32_t gpu = 0; entry.link && gpu < scenario.devices.size(); ++gpu) {
      if (entry.gpu && *entry.gpu != gpu) continue;
      const Profile* profile = profile_by_key(scenario.devices[gpu].profile);
      if (*entry.link >= profile->nvlinks) {
        return "gpu " + std::to_string(gpu) + " has no NVLink " + std::to_string(*entry.link);
      }
    }
  }
  return std::nullopt;
}

}  // namespace everywatt::sim
