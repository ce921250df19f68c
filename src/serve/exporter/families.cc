// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/families.h"

#include <algorithm>
#include <array>
#include <utility>

namespace everywatt::exporter {
namespace {

using catalog::Kind;
using catalog::Lane;
using catalog::Metric;
using catalog::MetricId;
using catalog::Type;
using catalog::Unit;

// A family of several metrics needs words that fit them all; its members' own are about one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kHelp{{
    {"gpu_ecc_errors_total",
     "Memory errors at all locations, corrected by ECC or not, since the driver was loaded "
     "(volatile) or in the life of the board (aggregate)."},
    {"gpu_ecc_location_errors_total",
     "Memory errors by location, corrected by ECC or not, since the driver was loaded (volatile) "
     "or "
     "in the life of the board (aggregate)."},
    {"gpu_ecc_accumulated_errors_total",
     "Memory errors since Everywatt first saw the GPU; never falls over a reload of the driver."},
    {"gpu_nvlink_errors_total", "Errors of an NVLink by kind."},
    {"gpu_power_sampled_watts",
     "Power of the board: each sample of the finest source there is. Bounds are tenths of the "
     "highest limit."},
    {"gpu_sm_active_sampled_ratio",
     "Share of the SMs that held a warp: each window that was read."},
    {"gpu_utilization_sampled_ratio", "Share of time in which a kernel ran: each refresh."},
    {"gpu_remap_banks", "Memory banks by how many spare rows they have left."},
    {"gpu_remapped_rows_total", "Memory rows replaced by spare ones, by cause."},
    {"gpu_retired_pages_total", "Memory pages taken out of use, by cause."},
    {"gpu_violation_accumulated_seconds_total",
     "Time for which the clocks were held down since Everywatt first saw the GPU, by policy."},
    {"host_cpu_seconds_total", "CPU time over all CPUs, by what they did."},
    {"host_pressure_seconds_total",
     "Time in which tasks waited for a resource (PSI): some of them, or all (full)."},
}};

bool is_info(const Metric& metric) {
  return metric.lane == Lane::kOnce && metric.instances == 1 &&
         (metric.type == Type::kText ||
          (metric.kind == Kind::kConst && metric.unit == Unit::kNone));
}

bool is_in_a_family(const Metric& metric) {
  switch (metric.lane) {
    case Lane::kProcess:
    case Lane::kHostProcess:
    case Lane::kIdentity:
    case Lane::kEvent:
    case Lane::kPower:
      return false;
    case Lane::kGauge:
    case Lane::kGpm:
    case Lane::kSlow:
    case Lane::kOnce:
    case Lane::kTotals:
    case Lane::kFaults:
    case Lane::kHost:
    case Lane::kPart:
    case Lane::kSampling:
      break;
  }
  return metric.type != Type::kText && metric.kind != Kind::kMask && !is_info(metric);
}

std::string_view help_of(std::string_view family, const Metric& metric) {
  for (const auto& [name, help] : kHelp) {
    if (name == family) return help;
  }
  return metric.en;
}

}  // namespace

std::vector<Family> make_families() {
  std::vector<Family> families;
  for (std::size_t i = 0; i < catalog::metrics().size(); ++i) {
    const Metric& metric = catalog::metrics()[i];
    if (!is_in_a_family(metric)) continue;
    const std::string_view name = metric.family.empty() ? metric.name : metric.family;
    auto family = std::ranges::find(families, name, &Family::name);
    if (family == families.end()) {
      const std::string_view type = metric.instance_label == "le"   ? "histogram"
                                    : metric.kind == Kind::kCounter ? "counter"
                                                                    : "gauge";
      families.push_back({.name = name,
                          .type = type,
                          .help = help_of(name, metric),
                          .scope = metric.scope,
                          .members = {}});
      family = families.end() - 1;
    }
    family->members.push_back(static_cast<MetricId>(i));
  }
  return families;
}

std::vector<MetricId> info_metrics(catalog::Scope scope) {
  std::vector<MetricId> found;
  for (std::size_t i = 0; i < catalog::metrics().size(); ++i) {
    const Metric& metric = catalog::metrics()[i];
    // The index and the UUID are labels of every sample.
    if (metric.scope == scope && is_info(metric) && metric.name != "gpu_index" &&
        metric.name != "gpu_uuid") {
      found.push_back(static_cast<MetricId>(i));
    }
  }
  return found;
}

}  // namespace everywatt::exporter
