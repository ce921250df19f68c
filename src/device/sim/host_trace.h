// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "device/sim/loop.h"
#include "device/sim/ramp.h"
#include "device/sim/steps.h"

namespace everywatt::sim {

// What a recorded machine and its training process tree did. Immutable.
struct HostTrace {
  unsigned cpus = 16;
  // Seconds of all the machine's CPUs together.
  Ramp user, system, iowait, idle;
  // Seconds in which some of the machine waited for a CPU, for storage. Derived: the traces have no
  // stall times.
  Ramp cpu_stall, io_stall;
  // CPU seconds of the main process and of its children together; `worker` is what one child alone
  // used while it ran.
  Ramp main, worker;
  Steps state;  // of the main process, as a letter
  Steps children, threads, rss_kb, read_bytes, write_bytes;
  std::int64_t end_ns = 0;  // the processes are there before this

  // A growing quantity over the laps of a loop.
  static double over_laps(const Ramp& ramp, const Loop& loop, const Position& here) {
    return ramp.at(here.trace_ns) +
           static_cast<double>(here.lap) * (ramp.at(loop.end_ns) - ramp.at(loop.begin_ns));
  }
  static std::int64_t over_laps(const Steps& steps, const Loop& loop, const Position& here) {
    return steps.at(here.trace_ns) + here.lap * steps.rise(loop.begin_ns, loop.end_ns);
  }
};

// Reads STEM.host.csv.gz. Where its rows end before `last_ns`, the machine is idle from there on
// and the processes are gone. kCorrupt names the file and the line; without such a file, an idle
// machine without processes.
base::Result<HostTrace> read_host_trace(const std::string& stem, std::int64_t last_ns);

}  // namespace everywatt::sim
