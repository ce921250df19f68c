// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/processes.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::State;

// Room beyond the number that the driver told: a list may grow until the next call.
constexpr unsigned kSlack = 16;
constexpr unsigned kMaxEntries = 65536;
constexpr int kTries = 5;
// A stamp this far ahead of the clock is of a time before the clock was set back.
constexpr std::int64_t kAheadUs = 1'000'000;

// Room for as many as the driver said, and more than before. It may say anything.
std::size_t room_for(unsigned told, std::size_t at_least) {
  return std::min<std::size_t>(std::max(std::size_t{told} + kSlack, at_least), kMaxEntries);
}

template <Call kCall, typename Entry>
Return read_list(Device& device, std::vector<Entry>& entries) {
  entries.resize(kSlack);
  Return code = Return::kInsufficientSize;
  for (int i = 0; i < kTries && code == Return::kInsufficientSize; ++i) {
    auto count = static_cast<unsigned>(entries.size());
    code = device.call<kCall>(&count, entries.data());
    if (code == Return::kSuccess) {
      entries.resize(std::min<std::size_t>(count, entries.size()));
    } else if (code == Return::kInsufficientSize) {
      entries.resize(room_for(count, 2 * entries.size()));
    }
  }
  return code;
}

// A process may run in more than one MIG instance, with memory of its own in each; a list without
// instances is about all of them.
bool is_same_use(const Process& one, const Process& other) {
  return one.pid == other.pid &&
         (one.gpu_instance_id == other.gpu_instance_id ||
          one.gpu_instance_id == abi::kInstanceNone || other.gpu_instance_id == abi::kInstanceNone);
}

void join(std::vector<Process>& processes, const Process& found) {
  const auto known = std::ranges::find_if(
      processes, [&](const Process& process) { return is_same_use(process, found); });
  if (known == processes.end()) {
    processes.push_back(found);
    return;
  }
  known->type_mask |= found.type_mask;
  known->memory_bytes = std::max(known->memory_bytes, found.memory_bytes);
}

template <typename Entry>
void join_list(const std::vector<Entry>& entries, std::uint64_t type,
               std::vector<Process>& processes) {
  for (const Entry& entry : entries) {
    Process process{.pid = entry.pid, .type_mask = type, .memory_bytes = {}};
    if (!is_blank(entry.used_gpu_memory)) process.memory_bytes = entry.used_gpu_memory;
    if constexpr (std::is_same_v<Entry, abi::ProcessInfo>) {
      process.gpu_instance_id = entry.gpu_instance_id;
    }
    join(processes, process);
  }
}

template <Call kNewCall, Call kOldCall>
Return join_lists(Device& device, std::uint64_t type, std::vector<Process>& processes) {
  std::vector<abi::ProcessInfo> entries;
  Return code = read_list<kNewCall>(device, entries);
  if (code == Return::kSuccess) join_list(entries, type, processes);
  if (code != Return::kFunctionNotFound) return code;
  std::vector<abi::ProcessInfoV1> old_entries;
  code = read_list<kOldCall>(device, old_entries);
  if (code == Return::kSuccess) join_list(old_entries, type, processes);
  return code;
}

}  // namespace

Answer<std::vector<Process>> read_processes(Device& device) {
  std::vector<Process> processes;
  const Return codes[] = {
      join_lists<Call::kDeviceGetComputeRunningProcesses,
                 Call::kDeviceGetComputeRunningProcessesV1>(device, kComputeBit, processes),
      join_lists<Call::kDeviceGetGraphicsRunningProcesses,
                 Call::kDeviceGetGraphicsRunningProcessesV1>(device, kGraphicsBit, processes),
      // A client of MPS is in the compute list too, or only the server is: the bit joins them.
      join_lists<Call::kDeviceGetMpsComputeRunningProcesses,
                 Call::kDeviceGetMpsComputeRunningProcessesV1>(device, kMpsBit, processes),
  };
  State absence = State::kNotSupported;
  bool has_list = false;
  for (const Return code : codes) {
    const State state = state_of(code);
    // "No entry found" is an empty list.
    has_list = has_list || state == State::kOk || state == State::kNoNewValue;
    if (state != State::kOk && state != State::kNoNewValue && state != State::kNotSupported) {
      absence = state;
    }
  }
  // Half of the truth about who is there would be a lie: only what is unsupported may be missing.
  if (!has_list || absence != State::kNotSupported) return std::unexpected(absence);
  std::ranges::sort(processes, {}, [](const Process& process) {
    return std::pair(process.pid, process.gpu_instance_id);
  });
  return processes;
}

namespace {

std::optional<double> to_ratio(Device& device, unsigned percent) {
  if (percent <= 100) return percent / 100.0;
  static_cast<void>(device.reject());
  return std::nullopt;
}

}  // namespace

State ProcessSamples::drain(Device& device, std::int64_t now_wall_us,
                            std::vector<ProcessSample>& samples) {
  samples.clear();
  if (last_wall_us_ > now_wall_us + kAheadUs) last_wall_us_ = 0;
  const auto since_us = static_cast<unsigned long long>(last_wall_us_);
  Return code = Return::kInsufficientSize;
  unsigned count = 0;
  for (int i = 0; i < kTries && code == Return::kInsufficientSize; ++i) {
    count = static_cast<unsigned>(buffer_.size());
    code = device.call<Call::kDeviceGetProcessUtilization>(
        buffer_.empty() ? nullptr : buffer_.data(), &count, since_us);
    if (code == Return::kInsufficientSize || (code == Return::kSuccess && buffer_.empty())) {
      code = Return::kInsufficientSize;
      buffer_.resize(room_for(count, buffer_.size() + 1));
    }
  }
  if (code != Return::kSuccess) return state_of(code);

  std::int64_t newest_us = last_wall_us_;
  count = std::min(count, static_cast<unsigned>(buffer_.size()));
  for (unsigned i = 0; i < count; ++i) {
    const abi::ProcessUtilizationSample& slot = buffer_[i];
    const auto wall_us = static_cast<std::int64_t>(slot.time_stamp);
    if (slot.pid == 0 || wall_us <= last_wall_us_ || wall_us > now_wall_us + kAheadUs) continue;
    newest_us = std::max(newest_us, wall_us);
    const auto known = std::ranges::find(samples, slot.pid, &ProcessSample::pid);
    if (known != samples.end() && known->wall_us >= wall_us) continue;
    ProcessSample sample{.pid = slot.pid,
                         .wall_us = wall_us,
                         .sm_ratio = to_ratio(device, slot.sm_util),
                         .memory_controller_ratio = to_ratio(device, slot.mem_util),
                         .encoder_ratio = to_ratio(device, slot.enc_util),
                         .decoder_ratio = to_ratio(device, slot.dec_util)};
    if (known != samples.end()) {
      *known = sample;
    } else {
      samples.push_back(sample);
    }
  }
  last_wall_us_ = newest_us;
  return samples.empty() ? State::kNoNewValue : State::kOk;
}

}  // namespace everywatt::nvml
