// SPDX-License-Identifier: Apache-2.0
//
// Process lists and the driver's samples of what each process used.
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "device/sim/library/driver.h"
#include "device/sim/library/mig.h"

using namespace everywatt::sim;
using abi::Device;
using abi::ProcessInfo;
using abi::ProcessInfoV1;
using abi::Return;

namespace {

// Slots that the driver does not fill keep what was there; this makes a reader that trusts them
// stumble.
constexpr int kRubbish = 0xaa;
constexpr unsigned kSampleSlots = 100;

void store(const PlacedProcess& one, ProcessInfo& out) {
  out = {.pid = one.process.pid,
         .used_gpu_memory = one.process.memory_bytes,
         .gpu_instance_id = one.mig ? one.mig->gpu_instance_id : abi::kInstanceNone,
         .compute_instance_id = one.mig ? 0 : abi::kInstanceNone};
}
void store(const PlacedProcess& one, ProcessInfoV1& out) {
  out = {.pid = one.process.pid, .used_gpu_memory = one.process.memory_bytes};
}

template <typename Element>
Return list(Call call, Device device, unsigned* count, Element* out, ProcessKind kind) {
  const Entry entry = enter_any(call, device);
  if (entry.outcome) return *entry.outcome;
  if (!count || (!out && *count > 0)) return Return::kInvalidArgument;
  const std::vector<PlacedProcess> running = processes_of(entry, kind);
  const auto number = static_cast<unsigned>(running.size());
  const unsigned room = *count;
  if (room > 0 && entry.gpu->take_list_growth()) {
    *count = room + 1;
    return Return::kInsufficientSize;
  }
  *count = number;
  if (room < number) return Return::kInsufficientSize;
  for (unsigned i = 0; i < number; ++i)
    store(running[i], out[i]);
  return Return::kSuccess;
}

unsigned percent(std::int32_t value) {
  return value < 0 ? 0 : static_cast<unsigned>(value);
}

// The last played nanosecond that has this stamp: what is later has a newer one. A stamp from a
// clock that ran ahead lies in the future, and nothing is newer.
std::int64_t played_of(unsigned long long stamp_us, const Moment& moment) {
  constexpr unsigned long long kLatest = std::numeric_limits<std::int64_t>::max() / 2000;
  return static_cast<std::int64_t>(std::min(stamp_us, kLatest)) * 1000 + 999 -
         (moment.wall_ns - moment.played_ns);
}

unsigned long long stamp_of(std::int64_t played_ns, const Moment& moment) {
  return static_cast<unsigned long long>((moment.wall_ns - moment.played_ns + played_ns) / 1000);
}

}  // namespace

namespace everywatt::sim::driver {

Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, ProcessInfo* out) {
  return list("nvmlDeviceGetComputeRunningProcesses_v3", device, count, out, ProcessKind::kCompute);
}
Return nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count, ProcessInfo* out) {
  return list("nvmlDeviceGetComputeRunningProcesses_v2", device, count, out, ProcessKind::kCompute);
}
Return nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, ProcessInfoV1* out) {
  return list("nvmlDeviceGetComputeRunningProcesses", device, count, out, ProcessKind::kCompute);
}
Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned* count, ProcessInfo* out) {
  return list("nvmlDeviceGetGraphicsRunningProcesses_v3", device, count, out,
              ProcessKind::kGraphics);
}
Return nvmlDeviceGetGraphicsRunningProcesses_v2(Device device, unsigned* count, ProcessInfo* out) {
  return list("nvmlDeviceGetGraphicsRunningProcesses_v2", device, count, out,
              ProcessKind::kGraphics);
}
Return nvmlDeviceGetGraphicsRunningProcesses(Device device, unsigned* count, ProcessInfoV1* out) {
  return list("nvmlDeviceGetGraphicsRunningProcesses", device, count, out, ProcessKind::kGraphics);
}
Return nvmlDeviceGetMPSComputeRunningProcesses_v3(Device device, unsigned* count,
                                                  ProcessInfo* out) {
  return list("nvmlDeviceGetMPSComputeRunningProcesses_v3", device, count, out, ProcessKind::kMps);
}
Return nvmlDeviceGetMPSComputeRunningProcesses_v2(Device device, unsigned* count,
                                                  ProcessInfo* out) {
  return list("nvmlDeviceGetMPSComputeRunningProcesses_v2", device, count, out, ProcessKind::kMps);
}
Return nvmlDeviceGetMPSComputeRunningProcesses(Device device, unsigned* count, ProcessInfoV1* out) {
  return list("nvmlDeviceGetMPSComputeRunningProcesses", device, count, out, ProcessKind::kMps);
}

Return nvmlDeviceGetProcessUtilization(Device device, abi::ProcessUtilizationSample* out,
                                       unsigned* count, unsigned long long since_us) {
  return on_whole_gpu("nvmlDeviceGetProcessUtilization", device,
                      [&](Gpu& gpu, const Moment& moment) {
                        if (!count) return Return::kInvalidArgument;
                        if (!out) {
                          *count = kSampleSlots;
                          return Return::kInsufficientSize;
                        }
                        const std::vector<ProcessSample> samples =
                            gpu.process_samples(played_of(since_us, moment), moment.played_ns);
                        const auto number = static_cast<unsigned>(samples.size());
                        const unsigned room = *count;
                        *count = number;
                        if (number == 0) return Return::kNotFound;
                        if (room < number) return Return::kInsufficientSize;
                        std::memset(static_cast<void*>(out), kRubbish, sizeof *out * room);
                        for (unsigned i = 0; i < number; ++i) {
                          const ListedProcess& usage = samples[i].process.usage;
                          out[i] = {.pid = samples[i].process.pid,
                                    .time_stamp = stamp_of(samples[i].played_ns, moment),
                                    .sm_util = percent(usage.sm_percent),
                                    .mem_util = percent(usage.memory_percent),
                                    .enc_util = percent(usage.encoder_percent),
                                    .dec_util = percent(usage.decoder_percent)};
                        }
                        if (gpu.entry().reports_buffer_size) *count = room;
                        return Return::kSuccess;
                      });
}

Return nvmlDeviceGetProcessesUtilizationInfo(Device device, abi::ProcessesUtilizationInfo* out) {
  return on_whole_gpu(
      "nvmlDeviceGetProcessesUtilizationInfo", device, [&](Gpu& gpu, const Moment& moment) {
        if (!out) return Return::kInvalidArgument;
        if (out->version != abi::version_word<abi::ProcessesUtilizationInfo>(1)) {
          return Return::kArgumentVersionMismatch;
        }
        const std::vector<ProcessSample> samples =
            gpu.process_samples(played_of(out->last_seen_time_stamp, moment), moment.played_ns);
        const auto number = static_cast<unsigned>(samples.size());
        const unsigned room = out->process_samples_count;
        out->process_samples_count = number;
        if (number == 0) return Return::kNotFound;
        if (!out->proc_util_array || room < number) return Return::kInsufficientSize;
        std::memset(static_cast<void*>(out->proc_util_array), kRubbish,
                    sizeof *out->proc_util_array * room);
        for (unsigned i = 0; i < number; ++i) {
          const ListedProcess& usage = samples[i].process.usage;
          out->proc_util_array[i] = {.time_stamp = stamp_of(samples[i].played_ns, moment),
                                     .pid = samples[i].process.pid,
                                     .sm_util = percent(usage.sm_percent),
                                     .mem_util = percent(usage.memory_percent),
                                     .enc_util = percent(usage.encoder_percent),
                                     .dec_util = percent(usage.decoder_percent),
                                     .jpg_util = 0,
                                     .ofa_util = 0};
        }
        if (gpu.entry().reports_buffer_size) out->process_samples_count = room;
        return Return::kSuccess;
      });
}

}  // namespace everywatt::sim::driver
