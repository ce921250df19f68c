// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "device/sim/scenario.h"

namespace everywatt::sim {

// The driver's library as a file that may be absent: a link to the simulated one, which is there
// unless a [[library]] of the scenario says that it is absent. A scenario without such an entry has
// no link, and nothing is touched.
class LibraryLink {
 public:
  // `path` of the link; `library` is where it leads, unless it is there already and leads
  // elsewhere.
  static base::Result<LibraryLink> open(const std::string& path, const std::string& library,
                                        const Scenario& scenario);

  base::Status show(std::int64_t played_ns) const;

 private:
  LibraryLink(std::string path, std::string library, const Scenario& scenario)
      : path_(std::move(path)), library_(std::move(library)), scenario_(&scenario) {}

  std::string path_;
  std::string library_;
  const Scenario* scenario_;
};

}  // namespace everywatt::sim
