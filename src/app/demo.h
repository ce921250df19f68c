// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/supervisor.h"
#include "base/result.h"

namespace everywatt::app {

// How many GPUs `names` stands for, as far as that can be told without reading a trace.
unsigned count_demo_gpus(const std::string& names);

// The names of the traces that a scenario's GPUs play, in its order.
std::vector<std::string> find_trace_names(std::string_view scenario);

// A folder in which recorded traces are played, and the player that keeps it going.
struct Demo {
  std::string folder;
  std::string nvml_library;
  std::string host_root;
  Companion player;
  std::vector<std::string> traces;  // that the GPUs play, by index

  // Makes `folder` anew for `names` ("gemm,fed", "all", "scenario:NAME" or a folder of traces) and
  // writes the root as it is at the start. kInvalidArgument, with the names that there are;
  // kNotFound: the player or the library is not beside the program.
  static base::Result<Demo> make(const std::string& folder, const std::string& names);
};

}  // namespace everywatt::app
