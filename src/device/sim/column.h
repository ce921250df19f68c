// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace everywatt::sim {

// Everything that a simulated GPU can be asked for as one number. The first kTraceColumns come from
// the trace (its column names); the rest is constant, by profile. A scenario can override any of
// them by its name.
enum class Column : unsigned char {
  kUtilGpu,
  kUtilMem,
  kFbUsed,
  kFbReserved,
  kBar1Used,
  kPower,
  kPowerInstant,
  kEnergy,
  kTemp,
  kMemTemp,
  kSmMhz,
  kMemMhz,
  kReasons,
  kPstate,
  kEnc,
  kDec,
  kViolPower,
  kViolThermal,
  // Constant unless overridden.
  kFbTotal,
  kBar1Total,
  kJpg,
  kOfa,
  kEccCorrectedVolatile,
  kEccUncorrectedVolatile,
  kEccCorrectedAggregate,
  kEccUncorrectedAggregate,
  kRetiredSingleBit,
  kRetiredDoubleBit,
  kRetiredPending,
  kRemappedCorrectable,
  kRemappedUncorrectable,
  kRemapPending,
  kRemapFailure,
  kPcieReplay,
  kPcieGeneration,
  kPcieWidth,
  kPowerLimit,
  kEccMode,
  kPersistenceMode,
  kComputeMode,
};

inline constexpr std::size_t kTraceColumns = 18;
inline constexpr std::array<std::string_view, 40> kColumnNames = {
    "util_gpu",
    "util_mem",
    "fb_used_b",
    "fb_reserved_b",
    "bar1_used_b",
    "power_mw",
    "power_inst_mw",
    "energy_mj",
    "temp_c",
    "mem_temp_c",
    "sm_mhz",
    "mem_mhz",
    "reasons",
    "pstate",
    "enc",
    "dec",
    "viol_power_ns",
    "viol_thermal_ns",
    "fb_total_b",
    "bar1_total_b",
    "jpg",
    "ofa",
    "ecc_corrected_volatile",
    "ecc_uncorrected_volatile",
    "ecc_corrected_aggregate",
    "ecc_uncorrected_aggregate",
    "retired_single_bit",
    "retired_double_bit",
    "retired_pending",
    "remapped_correctable",
    "remapped_uncorrectable",
    "remap_pending",
    "remap_failure",
    "pcie_replay",
    "pcie_generation",
    "pcie_width",
    "power_limit_mw",
    "ecc_mode",
    "persistence_mode",
    "compute_mode",
};
inline constexpr std::size_t kColumns = kColumnNames.size();
static_assert(static_cast<std::size_t>(Column::kComputeMode) + 1 == kColumns);
static_assert(static_cast<std::size_t>(Column::kViolThermal) + 1 == kTraceColumns);

constexpr std::size_t index_of(Column column) {
  return static_cast<std::size_t>(column);
}

// Counters grow from lap to lap; the others start each lap where the trace does.
constexpr bool grows_over_laps(Column column) {
  return column == Column::kEnergy || column == Column::kViolPower ||
         column == Column::kViolThermal;
}

constexpr std::optional<Column> column_by_name(std::string_view name) {
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (kColumnNames[i] == name) return static_cast<Column>(i);
  }
  return std::nullopt;
}

}  // namespace everywatt::sim
