// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "record/importer/numbers.h"
#include "record/importer/trace_rows.h"

namespace everywatt::importer {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

enum Column : std::size_t {
  kTime,
  kGract,
  kSmact,
  kSmocc,
  kInt,
  kTensor,
  kDfma,
  kHmma,
  kImma,
  kDram,
  kFp64,
  kFp32,
  kFp16,
  kPcieTx,
  kPcieRx,
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
  kSmClock,
  kMemClock,
  kReasons,
  kPstate,
  kEncoder,
  kDecoder,
  kViolPower,
  kViolThermal,
};

std::vector<std::string_view> column_names() {
  return {"t_ms",     "gract",         "smact",          "smocc",         "int",
          "tensor",   "dfma",          "hmma",           "imma",          "dram",
          "fp64",     "fp32",          "fp16",           "pcie_tx_mibs",  "pcie_rx_mibs",
          "util_gpu", "util_mem",      "fb_used_b",      "fb_reserved_b", "bar1_used_b",
          "power_mw", "power_inst_mw", "energy_mj",      "temp_c",        "mem_temp_c",
          "sm_mhz",   "mem_mhz",       "reasons",        "pstate",        "enc",
          "dec",      "viol_power_ns", "viol_thermal_ns"};
}

// GPM percentages by metric; the trace has them with two decimals.
constexpr std::pair<Column, MetricId> kGpmRatios[] = {
    {kGract, MetricId::gpu_graphics_engine_active_ratio},
    {kSmact, MetricId::gpu_sm_active_ratio},
    {kSmocc, MetricId::gpu_sm_occupancy_ratio},
    {kInt, MetricId::gpu_integer_active_ratio},
    {kTensor, MetricId::gpu_tensor_active_ratio},
    {kDfma, MetricId::gpu_tensor_dfma_active_ratio},
    {kHmma, MetricId::gpu_tensor_hmma_active_ratio},
    {kImma, MetricId::gpu_tensor_imma_active_ratio},
    {kDram, MetricId::gpu_dram_active_ratio},
    {kFp64, MetricId::gpu_fp64_active_ratio},
    {kFp32, MetricId::gpu_fp32_active_ratio},
    {kFp16, MetricId::gpu_fp16_active_ratio},
};

constexpr double kBytesPerMib = 1048576;
constexpr std::int64_t kGpmRefreshNs = 100'000'000;
// Utilization is a driver average that is renewed each 200 ms, engines' each second; a tick early
// is that tick.
constexpr std::int64_t kUtilizationNs = 190'000'000;
constexpr std::int64_t kEngineNs = 990'000'000;
constexpr std::int64_t kMissingNs = 1'000'000'000;
// The driver's own clock for power samples.
constexpr double kPowerSampleNs = 20'700'000;

class GpuRows {
 public:
  GpuRows(const Numbers& numbers, const Model& model, const Place& place, TraceRows& rows)
      : numbers_(numbers), model_(model), place_(place), rows_(rows) {}

  void add_all() {
    for (std::size_t row = 0; row < numbers_.rows(); ++row) {
      // Only where the performance counters moved does the tick bring new readings.
      if (!std::isnan(numbers_.at(row, kDram))) {
        add_gauge(row);
        add_gpm(row);
      }
      if (row == 0 || numbers_.at(row, kEnergy) != numbers_.at(row - 1, kEnergy)) add_slow(row);
    }
    add_power();
    rows_.end_ns = place_.start_ns + numbers_.time_ns(numbers_.rows() - 1);
  }

 private:
  std::int64_t time(std::size_t row) const { return place_.start_ns + numbers_.time_ns(row); }

  void add_gauge(std::size_t row) {
    Row out(Scope::kGpu, Lane::kGauge);
    out.time_ns = time(row);
    const auto at = [&](Column column) { return numbers_.at(row, column); };
    if (out.time_ns - last_utilization_ns_ >= kUtilizationNs) {
      last_utilization_ns_ = out.time_ns;
      out.set(MetricId::gpu_utilization_ratio, at(kUtilGpu) / 100);
      out.set(MetricId::gpu_memory_controller_active_ratio, at(kUtilMem) / 100);
    }
    if (out.time_ns - last_engine_ns_ >= kEngineNs) {
      last_engine_ns_ = out.time_ns;
      out.set(MetricId::gpu_encoder_utilization_ratio, at(kEncoder) / 100);
      out.set(MetricId::gpu_decoder_utilization_ratio, at(kDecoder) / 100);
    }
    const std::uint64_t used = numbers_.whole(row, kFbUsed);
    const std::uint64_t reserved = numbers_.whole(row, kFbReserved);
    out.set(MetricId::gpu_memory_used_bytes, used);
    out.set(MetricId::gpu_memory_reserved_bytes, reserved);
    if (used + reserved <= kMemoryTotalBytes) {
      out.set(MetricId::gpu_memory_free_bytes, kMemoryTotalBytes - used - reserved);
    }
    out.set(MetricId::gpu_power_watts, at(kPower) / 1000);
    out.set(MetricId::gpu_power_instant_watts, at(kPowerInstant) / 1000);
    out.set(MetricId::gpu_temperature_celsius, at(kTemp));
    out.set(MetricId::gpu_memory_temperature_celsius, at(kMemTemp));
    out.set(MetricId::gpu_sm_clock_hertz, at(kSmClock) * 1e6);
    out.set(MetricId::gpu_memory_clock_hertz, at(kMemClock) * 1e6);
    out.set(MetricId::gpu_clock_event_reasons_mask, numbers_.whole(row, kReasons));
    out.set(MetricId::gpu_performance_state, numbers_.whole(row, kPstate));
    out.set(MetricId::gpu_power_violation_seconds_total, at(kViolPower) / 1e9);
    rows_.gauge.push_back(std::move(out));
  }

  void add_gpm(std::size_t row) {
    if (!model_.has_gpm) return add_missing_gpm(row);
    Row out(Scope::kGpu, Lane::kGpm);
    out.time_ns = out.window_end_ns = time(row);
    // Before the first refresh there was one, a period ago.
    out.window_start_ns = rows_.gpm.empty() ? std::max(place_.start_ns, out.time_ns - kGpmRefreshNs)
                                            : rows_.gpm.back().window_end_ns;
    for (const auto& [column, id] : kGpmRatios) {
      out.set(id, numbers_.at(row, column) / 100);
    }
    out.set(MetricId::gpu_pcie_transmit_bytes_per_second, numbers_.at(row, kPcieTx) * kBytesPerMib);
    out.set(MetricId::gpu_pcie_receive_bytes_per_second, numbers_.at(row, kPcieRx) * kBytesPerMib);
    rows_.gpm.push_back(std::move(out));
  }

  // A reason grows stale like a reading: once a second it is said again.
  void add_missing_gpm(std::size_t row) {
    if (!rows_.gpm.empty() && time(row) - rows_.gpm.back().time_ns < kMissingNs) return;
    Row out(Scope::kGpu, Lane::kGpm);
    out.time_ns = time(row);
    out.set_all_absent(State::kNotSupported);
    rows_.gpm.push_back(std::move(out));
  }

  void add_slow(std::size_t row) {
    Row out(Scope::kGpu, Lane::kSlow);
    out.time_ns = time(row);
    out.set(MetricId::gpu_energy_joules_total, numbers_.at(row, kEnergy) / 1000);
    out.set(MetricId::gpu_bar1_used_bytes, numbers_.whole(row, kBar1Used));
    out.set(MetricId::gpu_thermal_violation_seconds_total, numbers_.at(row, kViolThermal) / 1e9);
    out.set(MetricId::gpu_power_limit_enforced_watts, kPowerLimitWatts);
    rows_.slow.push_back(std::move(out));
  }

  void add_power() {
    rows_.has_held_power = true;
    std::size_t row = 0;
    const std::size_t last = numbers_.rows() - 1;
    for (std::size_t sample = 1;; ++sample) {
      const auto at_ns = std::llround(static_cast<double>(sample) * kPowerSampleNs);
      if (at_ns > numbers_.time_ns(last)) return;
      while (row < last && numbers_.time_ns(row + 1) <= at_ns) {
        ++row;
      }
      Row out(Scope::kGpu, Lane::kPower);
      out.time_ns = place_.start_ns + at_ns;
      out.set(MetricId::gpu_power_sample_watts, numbers_.at(row, kPowerInstant) / 1000);
      rows_.power.push_back(std::move(out));
    }
  }

  const Numbers& numbers_;
  const Model& model_;
  const Place& place_;
  TraceRows& rows_;
  std::int64_t last_utilization_ns_ = std::numeric_limits<std::int64_t>::min() / 2;
  std::int64_t last_engine_ns_ = std::numeric_limits<std::int64_t>::min() / 2;
};

Row make_once(const std::string& name, const Model& model, const Place& place) {
  Row out(Scope::kGpu, Lane::kOnce);
  out.time_ns = place.start_ns;
  out.set_text(MetricId::gpu_name, model.name);
  const std::uint64_t key = identity_key(name, 0);
  out.set_text(
      MetricId::gpu_uuid,
      fmt::format("GPU-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", key >> 32, key >> 16 & 0xffff,
                  key & 0xffff, 0x8000 | (place.index & 0xfff), key >> 8 & 0xffffffffffff));
  // A bus a GPU, and another domain where a domain's buses are used up.
  out.set_text(MetricId::gpu_pci_address,
               fmt::format("{:08x}:{:02x}:00.0", place.index / 255, place.index % 255 + 1));
  out.set(MetricId::gpu_index, std::uint64_t{place.index});
  out.set_text(MetricId::gpu_architecture, model.architecture);
  out.set(MetricId::gpu_compute_capability_major, model.compute_major);
  out.set(MetricId::gpu_compute_capability_minor, model.compute_minor);
  out.set(MetricId::gpu_memory_total_bytes, kMemoryTotalBytes);
  out.set(MetricId::gpu_power_limit_default_watts, kPowerLimitWatts);
  out.set(MetricId::gpu_power_limit_min_watts, kPowerLimitMinWatts);
  out.set(MetricId::gpu_power_limit_max_watts, kPowerLimitWatts);
  out.set(MetricId::gpu_gpm_supported, std::uint64_t{model.has_gpm ? 1u : 0u});
  return out;
}

}  // namespace

base::Status add_gpu_rows(const std::string& stem, const Model& model, const Place& place,
                          TraceRows& rows) {
  const auto numbers = Numbers::read(stem + ".gpu.csv.gz", column_names(),
                                     {.gaps = "dram", .negative = {"temp_c", "mem_temp_c"}});
  if (!numbers) return std::unexpected(numbers.error());
  rows.once.push_back(make_once(trace_name(stem), model, place));
  GpuRows(*numbers, model, place, rows).add_all();
  return {};
}

}  // namespace everywatt::importer
