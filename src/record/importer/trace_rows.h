// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/row.h"
#include "device/trace/owner.h"
#include "record/importer/model.h"

namespace everywatt::importer {

// Where a trace becomes a GPU of the file.
struct Place {
  std::uint32_t index = 0;    // nvidia-smi's
  std::int64_t start_ns = 0;  // boottime of the trace's start
  std::int64_t wall_offset_ns = 0;
};

// Something that the trace shows, for the event ring.
struct Happening {
  std::int64_t time_ns = 0;
  bool is_end = false;
  std::uint64_t pid = 0;
  std::uint64_t identity = 0;
  std::string text;
};

// A machine's CPU seconds since the trace's start, at one of its rows.
struct MachineMoment {
  std::int64_t time_ns = 0;
  double user_seconds = 0, system_seconds = 0, iowait_seconds = 0, idle_seconds = 0;
};

// The rows of one trace, each lane in order of time.
struct TraceRows {
  std::vector<catalog::Row> once, gauge, gpm, power, slow, process;
  std::vector<catalog::Row> host_process, identity;
  std::vector<MachineMoment> machine;
  double cpus = 0;
  std::vector<Happening> happenings;
  std::int64_t end_ns = 0;
  bool has_held_power = false;  // the power samples repeat what was read each 100 ms
};

// Reads STEM.gpu.csv.gz and, where they are, .processes.csv.gz, .host.csv.gz and .owners.json.
base::Result<TraceRows> read_trace(const std::string& stem, const Model& model, const Place& place);

// Moves all of it by so much.
void shift(TraceRows& rows, std::int64_t by_ns);

// The key of a trace's process in the identities: never 0, the same for the same trace and pid.
std::uint64_t identity_key(const std::string& name, std::uint64_t pid);

// What follows is called by read_trace alone, one function a file of the trace.
base::Status add_gpu_rows(const std::string& stem, const Model& model, const Place& place,
                          TraceRows& rows);
base::Status add_process_rows(const std::string& stem, const Place& place, TraceRows& rows);
base::Status add_host_rows(const std::string& stem, const Place& place, TraceRows& rows);

// "gemm" of "traces/gemm".
std::string trace_name(const std::string& stem);

}  // namespace everywatt::importer
