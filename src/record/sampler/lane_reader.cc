// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/lane_reader.h"

#include <algorithm>

namespace everywatt::sampler {
namespace {

using catalog::MetricId;
using catalog::Row;
using catalog::State;

// What a GPU lacks it gains with another driver; what we may not read somebody may allow any time.
constexpr std::int64_t kRetryUnsupportedNs = 600'000'000'000;
constexpr std::int64_t kRetryDeniedNs = 60'000'000'000;

// The one reason for all cells of a source, or kOk when they differ or one has a value.
State common_absence(const nvml::Source& source, const Row& row) {
  const State first = row.state(source.metrics.front());
  const bool is_common = std::ranges::all_of(source.metrics, [&](MetricId id) {
    for (unsigned i = 0; i < catalog::metric(id).instances; ++i) {
      if (row.state(id, i) != first) return false;
    }
    return true;
  });
  return is_common ? first : State::kOk;
}

}  // namespace

LaneReader::LaneReader(catalog::Lane lane) {
  for (const nvml::Source& source : nvml::sources(lane))
    plans_.push_back({.source = &source});
}

void LaneReader::reset() {
  for (Plan& plan : plans_)
    plan = {.source = plan.source};
}

void LaneReader::read(nvml::Device& device, std::int64_t lane_period_ns, Row& row) {
  const std::int64_t now_ns = row.time_ns;
  for (Plan& plan : plans_) {
    if (now_ns < plan.next_ns - lane_period_ns / 2) continue;
    plan.next_ns = now_ns + std::int64_t{nvml::period_ms(*plan.source)} * 1'000'000;
    if (plan.absence != State::kOk && now_ns < plan.retry_ns) {
      for (const MetricId id : plan.source->metrics)
        row.set_absent(id, plan.absence);
      continue;
    }
    plan.source->read(device, row);
    plan.absence = common_absence(*plan.source, row);
    if (plan.absence == State::kNotSupported) {
      plan.retry_ns = now_ns + kRetryUnsupportedNs;
    } else if (plan.absence == State::kNoPermission) {
      plan.retry_ns = now_ns + kRetryDeniedNs;
    } else {
      plan.absence = State::kOk;
    }
  }
}

}  // namespace everywatt::sampler
