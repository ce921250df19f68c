// SPDX-License-Identifier: Apache-2.0
//
// dcgm_...: the lower-case names that dashboards of the time before DCGM_FI_... ask for.
#include <algorithm>
#include <array>
#include <optional>

#include "serve/exporter/samples.h"

namespace everywatt::exporter {
namespace {

using catalog::MetricId;
using view::View;

constexpr double kMib = 1048576;

struct LegacyFamily {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  MetricId id;
  double scale = 1;  // from our unit to the name's
};

constexpr std::array kFamilies{
    LegacyFamily{"dcgm_gpu_utilization", "gauge", "GPU utilization, in percent.",
                 MetricId::gpu_utilization_ratio, 100},
    LegacyFamily{"dcgm_mem_copy_utilization", "gauge", "Memory controller utilization, in percent.",
                 MetricId::gpu_memory_controller_active_ratio, 100},
    LegacyFamily{"dcgm_fb_used", "gauge", "Memory in use, in MiB.", MetricId::gpu_memory_used_bytes,
                 1 / kMib},
    LegacyFamily{"dcgm_fb_free", "gauge", "Free memory, in MiB.", MetricId::gpu_memory_free_bytes,
                 1 / kMib},
    LegacyFamily{"dcgm_fb_total", "gauge", "All memory, in MiB.", MetricId::gpu_memory_total_bytes,
                 1 / kMib},
    LegacyFamily{"dcgm_temperature_gpu", "gauge", "GPU temperature, in degrees Celsius.",
                 MetricId::gpu_temperature_celsius},
    LegacyFamily{"dcgm_power_usage", "gauge", "Power draw, in watts.", MetricId::gpu_power_watts},
    LegacyFamily{"dcgm_sm_clock", "gauge", "SM clock, in MHz.", MetricId::gpu_sm_clock_hertz, 1e-6},
    LegacyFamily{"dcgm_memory_clock", "gauge", "Memory clock, in MHz.",
                 MetricId::gpu_memory_clock_hertz, 1e-6},
};

// The rest of version 1's list: values and units are those of today's name.
struct RenamedFamily {
  std::string_view name;
  std::string_view dcgm;
};

constexpr std::array kRenamed{
    RenamedFamily{"dcgm_memory_temp", "DCGM_FI_DEV_MEMORY_TEMP"},
    RenamedFamily{"dcgm_gpu_temp", "DCGM_FI_DEV_GPU_TEMP"},
    RenamedFamily{"dcgm_total_energy_consumption", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"},
    RenamedFamily{"dcgm_pcie_replay_counter", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"},
    RenamedFamily{"dcgm_enc_utilization", "DCGM_FI_DEV_ENC_UTIL"},
    RenamedFamily{"dcgm_dec_utilization", "DCGM_FI_DEV_DEC_UTIL"},
    RenamedFamily{"dcgm_xid_errors", "DCGM_FI_DEV_XID_ERRORS"},
    RenamedFamily{"dcgm_power_violation", "DCGM_FI_DEV_POWER_VIOLATION"},
    RenamedFamily{"dcgm_thermal_violation", "DCGM_FI_DEV_THERMAL_VIOLATION"},
    RenamedFamily{"dcgm_sync_boost_violation", "DCGM_FI_DEV_SYNC_BOOST_VIOLATION"},
    RenamedFamily{"dcgm_board_limit_violation", "DCGM_FI_DEV_BOARD_LIMIT_VIOLATION"},
    RenamedFamily{"dcgm_low_util_violation", "DCGM_FI_DEV_LOW_UTIL_VIOLATION"},
    RenamedFamily{"dcgm_reliability_violation", "DCGM_FI_DEV_RELIABILITY_VIOLATION"},
    RenamedFamily{"dcgm_ecc_sbe_volatile_total", "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"},
    RenamedFamily{"dcgm_ecc_dbe_volatile_total", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"},
    RenamedFamily{"dcgm_ecc_sbe_aggregate_total", "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL"},
    RenamedFamily{"dcgm_ecc_dbe_aggregate_total", "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL"},
    RenamedFamily{"dcgm_retired_pages_sbe", "DCGM_FI_DEV_RETIRED_SBE"},
    RenamedFamily{"dcgm_retired_pages_dbe", "DCGM_FI_DEV_RETIRED_DBE"},
    RenamedFamily{"dcgm_retired_pages_pending", "DCGM_FI_DEV_RETIRED_PENDING"},
    RenamedFamily{"dcgm_nvlink_flit_crc_error_count_total",
                  "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"},
    RenamedFamily{"dcgm_nvlink_data_crc_error_count_total",
                  "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL"},
    RenamedFamily{"dcgm_nvlink_replay_error_count_total",
                  "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL"},
    RenamedFamily{"dcgm_nvlink_recovery_error_count_total",
                  "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL"},
    RenamedFamily{"dcgm_nvlink_bandwidth_total", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"},
    RenamedFamily{"dcgm_fi_prof_gr_engine_active", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"},
    RenamedFamily{"dcgm_fi_prof_sm_active", "DCGM_FI_PROF_SM_ACTIVE"},
    RenamedFamily{"dcgm_fi_prof_sm_occupancy", "DCGM_FI_PROF_SM_OCCUPANCY"},
    RenamedFamily{"dcgm_fi_prof_pipe_tensor_active", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"},
    RenamedFamily{"dcgm_fi_prof_dram_active", "DCGM_FI_PROF_DRAM_ACTIVE"},
    RenamedFamily{"dcgm_fi_prof_pcie_tx_bytes", "DCGM_FI_PROF_PCIE_TX_BYTES"},
    RenamedFamily{"dcgm_fi_prof_pcie_rx_bytes", "DCGM_FI_PROF_PCIE_RX_BYTES"},
};

std::optional<double> number(const View& view, const Target& target, MetricId id) {
  const catalog::Reading reading = view.latest(target.handle(id)).reading;
  if (!is_publishable(id, reading)) return std::nullopt;
  return catalog::as_double(id, reading);
}

// Corrected and uncorrected ones since the driver was loaded, as far as the GPU counts them.
void append_ecc(const View& view, const Plan& plan, Exposition& out) {
  out.begin_family("dcgm_ecc_error_count_total", "counter",
                   "ECC errors, corrected or not, since the driver was loaded.");
  for (const Target& target : plan.targets) {
    if (target.device.scope != catalog::Scope::kGpu) continue;
    const auto corrected = number(view, target, MetricId::gpu_ecc_corrected_volatile_errors_total);
    const auto uncorrected =
        number(view, target, MetricId::gpu_ecc_uncorrected_volatile_errors_total);
    if (!corrected && !uncorrected) continue;
    out.sample().labels(target.labels).value(corrected.value_or(0) + uncorrected.value_or(0));
  }
}

const Counters& all_counters_once() {
  static const Counters counters = all_counters();
  return counters;
}

}  // namespace

void append_dcgm_legacy(const View& view, const Plan& plan, Exposition& out) {
  for (const LegacyFamily& family : kFamilies) {
    out.begin_family(family.name, family.type, family.help);
    for (const Target& target : plan.targets) {
      if (target.device.scope != catalog::Scope::kGpu) continue;
      const auto value = number(view, target, family.id);
      if (value) out.sample().labels(target.labels).value(*value * family.scale);
    }
  }
  append_ecc(view, plan, out);
  for (const RenamedFamily& renamed : kRenamed) {
    const std::vector<Counter>& known = all_counters_once().families;
    const auto family =
        std::ranges::find_if(known, [&](const Counter& one) { return one.name == renamed.dcgm; });
    if (family == known.end()) continue;
    out.begin_family(renamed.name, family->type, family->help);
    append_readings(view, plan, family->metric, &Target::labels, out);
  }
}

}  // namespace everywatt::exporter
