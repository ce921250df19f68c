// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "app/config.h"
#include "app/exit_code.h"
#include "base/result.h"
#include "serve/exporter/counters.h"
#include "serve/web/listening_socket.h"

namespace everywatt::app {

// The moment of a recording that is shown `elapsed_ns` after the start of its replay: from its
// first row on, and after its last one again from the first.
std::int64_t replayed_ns(std::int64_t first_ns, std::int64_t last_ns, std::int64_t elapsed_ns);

struct Replay {
  std::string path;
  exporter::Counters counters;  // what DCGM's names are of
  web::Scheme scheme = web::Scheme::kHttp;
};

// Serves a recording with a moving now until SIGTERM or SIGINT: the server alone, in this process.
base::Result<ExitCode> run_replay(Replay replay, const Config& config);

}  // namespace everywatt::app
