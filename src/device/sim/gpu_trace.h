// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/sim/column.h"
#include "device/sim/steps.h"

namespace everywatt::sim {

// The GPM columns of a trace, in file order, with the id under which NVML knows each.
inline constexpr std::array<std::string_view, 14> kGpmColumnNames = {
    "gract", "smact", "smocc", "int",  "tensor", "dfma",         "hmma",
    "imma",  "dram",  "fp64",  "fp32", "fp16",   "pcie_tx_mibs", "pcie_rx_mibs"};
inline constexpr std::array<unsigned, 14> kGpmColumnIds = {1, 2,  3,  4,  5,  6,  7,
                                                           9, 10, 11, 12, 13, 20, 21};
inline constexpr std::size_t kGpmColumns = kGpmColumnNames.size();
inline constexpr std::size_t kGpmDram = 8;

// What the GPM counters did between the refresh before and this one.
struct GpmRefresh {
  std::uint32_t at_us = 0;
  std::array<float, kGpmColumns> means{};
};

// One entry of a process list.
struct ListedProcess {
  std::uint32_t ordinal = 0;  // in order of the pids' first appearance in the trace
  std::uint64_t memory_bytes = 0;
  std::int32_t sm_percent = -1;  // -1: the driver had no sample
  std::int32_t memory_percent = -1;
  std::int32_t encoder_percent = -1;
  std::int32_t decoder_percent = -1;
};

// The process list from `at_ns` to before `end_ns`: two lists need not touch, between them it is
// empty.
struct ProcessListing {
  std::int64_t at_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<ListedProcess> processes;
};

// What a recorded GPU did, in the form in which it is played: changes only, about 60 KiB a minute.
// Immutable.
struct GpuTrace {
  std::array<Steps, kTraceColumns> columns;
  std::vector<GpmRefresh> gpm;
  std::vector<ProcessListing> listings;
  std::int64_t last_ns = 0;  // of the last row

  // The list that holds at that time, or null.
  const ProcessListing* listing_at(std::int64_t trace_ns) const;
};

// Reads STEM.gpu.csv.gz and, where there is one, STEM.processes.csv.gz. kCorrupt names the file and
// the line.
base::Result<GpuTrace> read_gpu_trace(const std::string& stem);

// The value of a GPM column as the trace has it: two decimals, which a float does not hold exactly.
double gpm_value(float stored);

}  // namespace everywatt::sim
