// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

// Makes a recorder file of recorded runs, at once. docs/traces.md describes their files.
namespace everywatt::importer {

struct Options {
  std::vector<std::string> stems;  // one GPU each; see find_stems
  std::string output;
  std::string profile = "h200";  // what the GPUs are said to be; see profile_names()
};

struct Summary {
  std::size_t gpus = 0;
  std::uint64_t rows = 0;
  std::int64_t duration_ns = 0;
};

// Every value is the trace's own, at the trace's own time: gauge rows are those ticks at which the
// performance counters moved, GPM rows their windows, process lists and host rows as they were
// taken. Power samples of 20.7 ms were not recorded: they hold the instant power, which an event in
// the file says. Accumulators are those that a sampler would have kept. A reading outside its
// physical range is there as invalid. All traces end at the same moment, the file's last.
//
// Processes have the command, container and labels that a live machine would show of their owner.
//
// kCorrupt names file and line of what is damaged; then nothing is written. kInvalidArgument: no
// such profile, or `output` is not ours to replace.
base::Result<Summary> import_traces(const Options& options);

// The traces that the words mean: a stem ("traces/gemm"), one of its files, or a folder, which
// stands for all traces in it in order of their names. kNotFound.
base::Result<std::vector<std::string>> find_stems(const std::vector<std::string>& words);

// "h200, a100".
std::string profile_names();

}  // namespace everywatt::importer
