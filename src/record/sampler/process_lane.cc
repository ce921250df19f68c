// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/process_lane.h"

#include <algorithm>
#include <array>
#include <optional>

namespace everywatt::sampler {
namespace {

using catalog::MetricId;
using catalog::Reading;
using catalog::State;

constexpr std::array kSampleMetrics = {
    MetricId::process_sm_ratio, MetricId::process_memory_controller_ratio,
    MetricId::process_encoder_ratio, MetricId::process_decoder_ratio,
    MetricId::process_sample_time_ns};

void put_ratio(catalog::Row& row, MetricId id, const std::optional<double>& ratio) {
  // Rejected and counted where it was read.
  row.set_reading(id, ratio ? Reading::of(*ratio) : Reading::absent(State::kInvalid));
}

// Nobody has that number: what else the driver says of it is not to be believed either.
bool is_impossible(nvml::Device& device, const nvml::Process& process) {
  if (catalog::is_in_range(catalog::metric(MetricId::process_pid), process.pid, 0)) return false;
  static_cast<void>(device.reject());
  return true;
}

}  // namespace

ProcessLane::ProcessLane(recorder::Writer writer)
    : writer_(writer), row_(catalog::Scope::kGpu, catalog::Lane::kProcess) {}

void ProcessLane::reset() {
  samples_ = {};
  pids_.clear();
}

void ProcessLane::write_absent(State why, std::int64_t now_ns) {
  pids_.clear();
  row_.clear();
  row_.time_ns = now_ns;
  row_.set_all_absent(why);
  writer_.append(row_);
}

unsigned ProcessLane::list(nvml::Device& device, std::int64_t now_ns, std::int64_t now_wall_ns,
                           Samples samples) {
  sample_state_ = State::kNotRead;
  if (samples == Samples::kDrain) {
    sample_state_ = samples_.drain(device, now_wall_ns / 1000, drained_);
  }
  nvml::Answer<std::vector<nvml::Process>> processes = nvml::read_processes(device);
  if (!processes) {
    write_absent(processes.error(), now_ns);
    return 0;
  }
  const auto impossible = std::erase_if(
      *processes, [&](const nvml::Process& process) { return is_impossible(device, process); });
  // "Nobody" is not what the driver said.
  if (impossible > 0 && processes->empty()) {
    write_absent(State::kInvalid, now_ns);
    return 0;
  }
  pids_.clear();
  for (const nvml::Process& process : *processes)
    pids_.push_back(process.pid);
  std::erase_if(*processes, [this](const nvml::Process& process) {
    return std::ranges::find(left_to_, process.gpu_instance_id) != left_to_.end();
  });
  row_.clear();
  row_.time_ns = now_ns;
  row_.set(MetricId::process_index, std::uint64_t{0});
  row_.set(MetricId::process_count, std::uint64_t{processes->size()});
  if (processes->empty()) writer_.append(row_);
  unsigned readings = 1;
  std::uint64_t index = 0;
  for (const nvml::Process& process : *processes) {
    row_.set(MetricId::process_index, index++);
    row_.set(MetricId::process_pid, std::uint64_t{process.pid});
    // Not process_identity: who it is the host process finds out, the way to /proc is not ours.
    row_.set(MetricId::process_type_mask, process.type_mask);
    if (process.memory_bytes) {
      device.put(row_, MetricId::process_memory_bytes, nvml::abi::Return::kSuccess,
                 *process.memory_bytes);
    } else {
      row_.set_absent(MetricId::process_memory_bytes, State::kNotSupported);
    }
    put_sample(process, now_wall_ns - now_ns);
    writer_.append(row_);
    readings += 4;
  }
  return readings;
}

void ProcessLane::put_sample(const nvml::Process& process, std::int64_t wall_ahead_ns) {
  const auto sample = std::ranges::find(drained_, process.pid, &nvml::ProcessSample::pid);
  if (sample_state_ != State::kOk || sample == drained_.end()) {
    const State why = sample_state_ == State::kOk ? State::kNoNewValue : sample_state_;
    for (const MetricId id : kSampleMetrics)
      row_.set_absent(id, why);
    return;
  }
  put_ratio(row_, MetricId::process_sm_ratio, sample->sm_ratio);
  put_ratio(row_, MetricId::process_memory_controller_ratio, sample->memory_controller_ratio);
  put_ratio(row_, MetricId::process_encoder_ratio, sample->encoder_ratio);
  put_ratio(row_, MetricId::process_decoder_ratio, sample->decoder_ratio);
  row_.set(MetricId::process_sample_time_ns, sample->wall_us * 1000 - wall_ahead_ns);
}

}  // namespace everywatt::sampler
