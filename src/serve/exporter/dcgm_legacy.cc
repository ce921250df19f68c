// SPDX-License-Identifier: Apache-2.0
//
// dcgm_...: the lower-case names that dashboards of the time before DCGM_FI_... ask for.
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
}

}  // namespace everywatt::exporter
