// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/supervisor.h"
#include "base/result.h"

namespace everywatt::app {

// How many GPUs `names` stands for, as far as that can be told without reading a trace.
unsigned count_demo_gpus(const std::string& names);

// A folder in which recorded traces are played, and the player that keeps it going.
struct Demo {
  std::string folder;
  std::string nvml_library;
  std::string host_root;
  Companion player;

  // Makes `folder` anew for `names` ("gemm,fed", "all" or a folder of traces) and writes the root
  // as it is at the start. kInvalidArgument, with the names that there are; kNotFound: the player
  // or the library is not beside the program.
  static base::Result<Demo> make(const std::string& folder, const std::string& names);
};

}  // namespace everywatt::app
