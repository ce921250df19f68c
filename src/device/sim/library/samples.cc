// SPDX-License-Identifier: Apache-2.0
//
// The driver's sample buffers: power every 20.7 ms, utilization every 200 ms.
#include "device/sim/library/driver.h"
#include "device/sim/library/mig.h"

using namespace everywatt::sim;
using abi::Device;
using abi::Return;
using abi::Sample;
using abi::ValueType;

namespace {

struct Buffer {
  Column column;
  std::int64_t step_ns;
  unsigned samples;
};

// Steps and depths as measured on an H200. The power buffer was not recorded: it repeats the
// instant power of the trace, which changes every 100 ms.
constexpr Buffer kPower = {Column::kPowerInstant, 20'700'000, 119};
constexpr std::int64_t kUtilizationStep = 200'000'000;
constexpr unsigned kUtilizationSamples = 71;

Return find_buffer(abi::Selector sampling, Buffer& buffer) {
  switch (sampling) {
    case abi::sampling::kTotalPower:
      buffer = kPower;
      return Return::kSuccess;
    case abi::sampling::kGpuUtilization:
      buffer = {Column::kUtilGpu, kUtilizationStep, kUtilizationSamples};
      return Return::kSuccess;
    case abi::sampling::kMemoryUtilization:
      buffer = {Column::kUtilMem, kUtilizationStep, kUtilizationSamples};
      return Return::kSuccess;
    case abi::sampling::kEncUtilization:
      buffer = {Column::kEnc, kUtilizationStep, kUtilizationSamples};
      return Return::kSuccess;
    case abi::sampling::kDecUtilization:
      buffer = {Column::kDec, kUtilizationStep, kUtilizationSamples};
      return Return::kSuccess;
    case abi::sampling::kProcessorClock:
    case abi::sampling::kMemoryClock:
      return Return::kNotFound;
    case abi::sampling::kModulePower:
      return Return::kInvalidArgument;
    default:
      return Return::kNotSupported;
  }
}

std::int64_t floor_divide(std::int64_t number, std::int64_t by) {
  return number / by - (number % by < 0 ? 1 : 0);
}

}  // namespace

Return everywatt::sim::driver::nvmlDeviceGetSamples(Device device, abi::Selector sampling,
                                                    unsigned long long since_us, ValueType* type,
                                                    unsigned* count, Sample* samples) {
  const auto body = [&](Gpu& gpu, const Moment& moment) {
    if (!type || !count) return Return::kInvalidArgument;
    Buffer buffer{};
    if (const Return found = find_buffer(sampling, buffer); found != Return::kSuccess) {
      return found;
    }
    *type = ValueType::kUnsignedInt;
    if (!samples) {
      *count = buffer.samples;
      return Return::kSuccess;
    }
    const std::int64_t played_origin_wall_ns = moment.wall_ns - moment.played_ns;
    const std::int64_t newest = floor_divide(moment.played_ns, buffer.step_ns);
    unsigned filled = 0;
    for (std::int64_t i = newest - buffer.samples + 1; i <= newest && filled < *count; ++i) {
      const std::int64_t taken_ns = i * buffer.step_ns;
      const auto stamp_us =
          static_cast<unsigned long long>((played_origin_wall_ns + taken_ns) / 1000);
      if (stamp_us <= since_us) continue;
      samples[filled].time_stamp = stamp_us;
      samples[filled].value.u64 = gpu.read_u64(buffer.column, taken_ns);
      ++filled;
    }
    *count = filled;
    return filled == 0 ? Return::kNotFound : Return::kSuccess;
  };
  const bool is_of_board = sampling == abi::sampling::kTotalPower;
  return is_of_board ? on_gpu("nvmlDeviceGetSamples", device, body)
                     : on_whole_gpu("nvmlDeviceGetSamples", device, body);
}
