// SPDX-License-Identifier: Apache-2.0
//
// [[mig]]
#include "device/sim/mig_shapes.h"
#include "device/sim/scenario_keys.h"

namespace everywatt::sim {
namespace {

// "3g.71gb,2g.35gb"; nothing: MIG mode is on, without instances.
Setter profiles(std::vector<std::string>& target) {
  return [&target](std::string_view value) -> Problem {
    target.clear();
    if (base::trim(value).empty()) return std::nullopt;
    for (const std::string_view part : base::split(value, ',')) {
      const std::string_view name = base::trim(part);
      if (!is_mig_profile(name)) return "no MIG profile '" + std::string(name) + "'";
      target.emplace_back(name);
    }
    return std::nullopt;
  };
}

// "100,50,0"
Setter percentages(std::vector<unsigned>& target) {
  return [&target](std::string_view value) -> Problem {
    target.clear();
    for (const std::string_view part : base::split(value, ',')) {
      const std::optional<std::uint64_t> percent = base::parse_u64(base::trim(part));
      if (!percent || *percent > 100) return "not percentages with commas between";
      target.push_back(static_cast<unsigned>(*percent));
    }
    return std::nullopt;
  };
}

}  // namespace

Section begin_mig(Scenario& scenario) {
  MigEntry& mig = scenario.migs.emplace_back();
  Section section{.keys = {{"gpu", which(mig.gpu)},
                           {"profiles", profiles(mig.profiles)},
                           {"activity_percent", percentages(mig.activity_percent)},
                           {"announced", truth(mig.announced)}},
                  .required = {"profiles"},
                  .line = &mig.line};
  add_span(section.keys, mig.span);
  return section;
}

}  // namespace everywatt::sim
