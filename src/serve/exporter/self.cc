// SPDX-License-Identifier: Apache-2.0
//
// everywatt_...: what Everywatt costs, how it keeps up, and how old what it knows is.
#include <array>

#include "serve/exporter/samples.h"

namespace everywatt::exporter {
namespace {

using catalog::Lane;
using catalog::Scope;
using view::View;

constexpr std::array kReadLanes{Lane::kGauge, Lane::kPower, Lane::kGpm, Lane::kProcess,
                                Lane::kSlow};
constexpr std::string_view kVersion = EVERYWATT_VERSION;

// In seconds. More digits would be longer and say nothing.
double whole_milliseconds(std::int64_t time_ns) {
  const std::int64_t milliseconds = time_ns / 1'000'000;
  return static_cast<double>(milliseconds) / 1e3;
}

void append_ages(const View& view, const Plan& plan, view::LastGood& last_good, Exposition& out) {
  out.begin_family("everywatt_last_reading_age_seconds", "gauge",
                   "How old the newest good reading of a GPU's lane is.");
  for (const Target& target : plan.targets) {
    if (target.device.scope != Scope::kGpu) continue;
    for (const Lane lane : kReadLanes) {
      const std::int64_t time_ns = last_good.time_ns(view, target.device.slot, lane);
      if (time_ns == 0) continue;
      out.sample().labels(target.labels).label("lane", catalog::lane_name(lane));
      out.value(whole_milliseconds(view.now_ns() - time_ns));
    }
  }
}

void append_statuses(const Plan& plan, Exposition& out) {
  out.begin_family("everywatt_gpu_status", "gauge",
                   "1 for what a GPU is now: ok, lost, timed_out, drained, failed, suspended.");
  for (const Target& target : plan.targets) {
    if (target.device.scope != Scope::kGpu) continue;
    out.sample().labels(target.labels).label("status", view::status_name(target.device.status));
    out.value(std::uint64_t{1});
  }
}

}  // namespace

void append_self(const View& view, const Plan& plan, std::span<const Family> families,
                 view::LastGood& last_good, Exposition& out) {
  out.begin_family("everywatt_build_info", "info", "The version that answers.");
  out.sample().label("version", kVersion).value(std::uint64_t{1});
  append_statuses(plan, out);
  append_ages(view, plan, last_good, out);
  for (const Family& family : families) {
    if (family.scope == Scope::kPart) append_family(view, plan, family, out);
  }
}

}  // namespace everywatt::exporter
