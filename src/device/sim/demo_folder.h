// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "device/sim/playhead.h"

namespace everywatt::sim {

// What is to be played in a folder of its own.
struct DemoOptions {
  std::string folder;
  // Names separated by commas, "all", a folder of traces, or "scenario:NAME": NAME.toml in a folder
  // "scenarios" beside that of the traces.
  std::string demo;
  std::string traces_folder;  // where names are looked for
  std::string profile = "h200";
  Pace pace = Pace::kRealTime;
};

// Makes the folder with scenario.toml and playhead in it. Everything that the scenario names is
// read once, so that a damaged trace is found here. kNotFound lists the traces or scenarios that
// there are.
base::Status make_demo_folder(const DemoOptions& options);

// The stems of the traces in a folder, sorted; those of the product in the order of its table.
std::vector<std::string> trace_names(const std::string& folder);

}  // namespace everywatt::sim
