// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "device/host/command.h"
#include "record/recorder/writer.h"

namespace everywatt::hostwatch {

struct Options {
  // Everything is read below it; "/" is the machine.
  std::string root = "/";
  // Where kernel log records come from: /dev/kmsg, or a file in its record format. Empty: dev/kmsg
  // below the root, where there is one.
  std::string kernel_log;
  host::CommandStyle command = host::CommandStyle::kName;
  // Environment variables of GPU processes that are kept as labels, beside SLURM_JOB_*.
  std::vector<std::string> labels;
  // Faults that the kernel's log told up to here (boottime) are known already. 0: up to the last
  // heartbeat of this part in the recorder; where it has none, none since the machine started.
  std::int64_t faults_since_ns = 0;
  std::int64_t period_ns = 1'000'000'000;
  // For the processes beyond `max_processes`.
  std::int64_t slow_period_ns = 10'000'000'000;
  unsigned max_processes = 64;
  base::Clock boottime = base::boottime_ns;
  base::Clock walltime = base::walltime_ns;
};

// Reads the operating system and writes what it saw: the rings of part `host` in both files, the
// slots of disks, interfaces and InfiniBand ports, wall_offset_ns. It learns which processes use a
// GPU from the process lanes of the same file, which the sampler writes.
//
// Both files must outlive it. One thread at a time. A tick costs about a file read for each thing
// watched and no lasting memory. Contained: a file that cannot be read costs its metrics, with the
// reason as their state, and one line of log each time that the reason changes.
class Hostwatch {
 public:
  // kNotFound, kIo: `recorder` or `identities` lacks a ring that is ours, or its folder is full.
  static base::Result<std::unique_ptr<Hostwatch>> open(Options options, recorder::File& recorder,
                                                       recorder::File& identities);
  ~Hostwatch();

  // Watches until `stop` is requested, and returns within a second of it. Kernel log records and
  // ends of processes become events at once, the rest is read each period.
  base::Status run(std::stop_token stop);

  // One tick at the present time of the options' clock: what run() does each period.
  void tick();
  // Takes what the kernel log and the ends of processes have to tell now, without waiting.
  void take_events();

 private:
  struct Parts;
  explicit Hostwatch(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// One tick, for a command that reads without a daemon. `recorder` must already hold the GPUs'
// process rows.
base::Status watch_once(Options options, recorder::File& recorder, recorder::File& identities);

}  // namespace everywatt::hostwatch
