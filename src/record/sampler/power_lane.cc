// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/power_lane.h"

namespace everywatt::sampler {
namespace {

using catalog::MetricId;
using catalog::State;

constexpr std::int64_t kRetryNs = 600'000'000'000;  // as for other sources that are not there

}  // namespace

PowerLane::PowerLane(recorder::Writer writer)
    : writer_(writer), row_(catalog::Scope::kGpu, catalog::Lane::kPower) {
  if (writer_.read_last(row_)) newest_ns_ = row_.time_ns;
}

void PowerLane::reset() {
  samples_ = {};
  absence_ = State::kOk;
  retry_ns_ = 0;
}

void PowerLane::write_absent(State why, std::int64_t now_ns) {
  if (now_ns <= newest_ns_) return;
  row_.clear();
  row_.time_ns = newest_ns_ = now_ns;
  row_.set_all_absent(why);
  writer_.append(row_);
}

unsigned PowerLane::drain(nvml::Device& device, std::int64_t now_ns, std::int64_t now_wall_ns,
                          Totals& totals) {
  if (now_ns < retry_ns_) return 0;
  const State state = samples_.drain(device, now_wall_ns / 1000, drained_);
  if (state != State::kOk) {
    if (state == State::kNoNewValue) return 0;
    // Said once a change, not once a second.
    if (state != absence_) write_absent(state, now_ns);
    absence_ = state;
    if (state == State::kNotSupported) retry_ns_ = now_ns + kRetryNs;
    return 0;
  }
  absence_ = State::kOk;
  const std::int64_t wall_ahead_ns = now_wall_ns - now_ns;
  unsigned written = 0;
  for (const nvml::PowerSample& sample : drained_) {
    const std::int64_t time_ns = sample.wall_us * 1000 - wall_ahead_ns;
    if (time_ns <= newest_ns_) continue;
    newest_ns_ = time_ns;
    row_.clear();
    row_.time_ns = time_ns;
    device.put_value(row_, MetricId::gpu_power_sample_watts, sample.watts);
    writer_.append(row_);
    if (row_.state(MetricId::gpu_power_sample_watts) != State::kOk) continue;
    totals.see_power(sample.watts, time_ns);
    ++written;
  }
  return written;
}

}  // namespace everywatt::sampler
