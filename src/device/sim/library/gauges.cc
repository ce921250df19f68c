// SPDX-License-Identifier: Apache-2.0
//
// What changes by the moment: activity, memory, power, heat, clocks.
#include "device/sim/library/driver.h"
#include "device/sim/library/mig.h"

using namespace everywatt::sim;
using abi::Device;
using abi::Return;

namespace {

// The window that the engines' percentages are said to be means of.
constexpr unsigned kEnginePeriodUs = 167'000;

Return engine(Call call, Device device, unsigned* percent, unsigned* period_us, Column column) {
  return on_whole_gpu(call, device, [&](Gpu& gpu, const Moment& moment) {
    if (!percent || !period_us) return Return::kInvalidArgument;
    *percent = gpu.read_u32(column, moment.played_ns);
    *period_us = kEnginePeriodUs;
    return Return::kSuccess;
  });
}

// Video clocks were not recorded: they keep their ratio to the SM clock.
unsigned current_clock(const Gpu& gpu, abi::Selector domain, const Moment& moment) {
  if (domain == abi::clock::kMem) return gpu.read_u32(Column::kMemMhz, moment.played_ns);
  const unsigned sm = gpu.read_u32(Column::kSmMhz, moment.played_ns);
  return domain == abi::clock::kVideo ? sm * kMaxVideoMhz / kMaxSmMhz : sm;
}

unsigned max_clock(abi::Selector domain) {
  if (domain == abi::clock::kMem) return kMaxMemMhz;
  return domain == abi::clock::kVideo ? kMaxVideoMhz : kMaxSmMhz;
}

Return clock_value(Call call, Device device, abi::Selector domain, abi::Selector id,
                   unsigned* mhz) {
  return on_gpu(call, device, [&](Gpu& gpu, const Moment& moment) {
    if (!mhz || domain > abi::clock::kVideo) return Return::kInvalidArgument;
    if (domain == abi::clock::kVideo && id != abi::clock_id::kCurrent &&
        id != abi::clock_id::kCustomerBoostMax) {
      return Return::kNotSupported;
    }
    *mhz = id == abi::clock_id::kCurrent ? current_clock(gpu, domain, moment) : max_clock(domain);
    return Return::kSuccess;
  });
}

Return performance_state(Call call, Device device, int* state) {
  return give(call, device, state, Column::kPstate);
}

// All that the recorded driver can name.
constexpr unsigned long long kSupportedReasons = 0x1ff;

Return constant_power(Call call, Device device, unsigned* milliwatts, unsigned value) {
  return give(call, device, milliwatts, [=](Gpu&, const Moment&) { return value; });
}

}  // namespace

namespace everywatt::sim::driver {

Return nvmlDeviceGetUtilizationRates(Device device, abi::Utilization* out) {
  return on_whole_gpu("nvmlDeviceGetUtilizationRates", device, [&](Gpu& gpu, const Moment& moment) {
    if (!out) return Return::kInvalidArgument;
    out->gpu = gpu.read_u32(Column::kUtilGpu, moment.played_ns);
    out->memory = gpu.read_u32(Column::kUtilMem, moment.played_ns);
    return Return::kSuccess;
  });
}
Return nvmlDeviceGetEncoderUtilization(Device device, unsigned* percent, unsigned* period_us) {
  return engine("nvmlDeviceGetEncoderUtilization", device, percent, period_us, Column::kEnc);
}
Return nvmlDeviceGetDecoderUtilization(Device device, unsigned* percent, unsigned* period_us) {
  return engine("nvmlDeviceGetDecoderUtilization", device, percent, period_us, Column::kDec);
}
Return nvmlDeviceGetJpgUtilization(Device device, unsigned* percent, unsigned* period_us) {
  return engine("nvmlDeviceGetJpgUtilization", device, percent, period_us, Column::kJpg);
}
Return nvmlDeviceGetOfaUtilization(Device device, unsigned* percent, unsigned* period_us) {
  return engine("nvmlDeviceGetOfaUtilization", device, percent, period_us, Column::kOfa);
}

Return nvmlDeviceGetMemoryInfo_v2(Device device, abi::MemoryV2* out) {
  const Entry entry = enter_any("nvmlDeviceGetMemoryInfo_v2", device);
  if (entry.outcome) return *entry.outcome;
  if (!out) return Return::kInvalidArgument;
  if (out->version != abi::version_word<abi::MemoryV2>(2)) return Return::kArgumentVersionMismatch;
  const MemoryUse use = memory_of(entry);
  out->total = use.total_bytes;
  out->reserved = use.reserved_bytes;
  out->used = use.used_bytes;
  out->free = out->total - out->reserved - out->used;
  return Return::kSuccess;
}
Return nvmlDeviceGetMemoryInfo(Device device, abi::Memory* out) {
  const Entry entry = enter_any("nvmlDeviceGetMemoryInfo", device);
  if (entry.outcome) return *entry.outcome;
  if (!out) return Return::kInvalidArgument;
  const MemoryUse use = memory_of(entry);
  out->total = use.total_bytes;
  out->used = use.used_bytes + use.reserved_bytes;
  out->free = out->total - out->used;
  return Return::kSuccess;
}
Return nvmlDeviceGetBAR1MemoryInfo(Device device, abi::Bar1Memory* out) {
  const Entry entry = enter_any("nvmlDeviceGetBAR1MemoryInfo", device);
  if (entry.outcome) return *entry.outcome;
  if (!out) return Return::kInvalidArgument;
  const MemoryUse use = bar1_of(entry);
  out->total = use.total_bytes;
  out->used = use.used_bytes;
  out->free = out->total - out->used;
  return Return::kSuccess;
}

Return nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return give("nvmlDeviceGetPowerUsage", device, milliwatts, Column::kPower);
}
Return nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* milliwatts) {
  return give("nvmlDeviceGetEnforcedPowerLimit", device, milliwatts, Column::kPowerLimit);
}
Return nvmlDeviceGetPowerManagementMode(Device device, unsigned* out) {
  return constant_power("nvmlDeviceGetPowerManagementMode", device, out, 1);
}
Return nvmlDeviceGetPowerManagementLimit(Device device, unsigned* milliwatts) {
  return give("nvmlDeviceGetPowerManagementLimit", device, milliwatts, Column::kPowerLimit);
}
Return nvmlDeviceGetPowerManagementDefaultLimit(Device device, unsigned* milliwatts) {
  return constant_power("nvmlDeviceGetPowerManagementDefaultLimit", device, milliwatts,
                        kPowerLimitMw);
}
Return nvmlDeviceGetPowerManagementLimitConstraints(Device device, unsigned* min, unsigned* max) {
  return on_gpu("nvmlDeviceGetPowerManagementLimitConstraints", device, [&](Gpu&, const Moment&) {
    if (!min || !max) return Return::kInvalidArgument;
    *min = kPowerLimitMinMw;
    *max = kPowerLimitMw;
    return Return::kSuccess;
  });
}
Return nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoules) {
  return give("nvmlDeviceGetTotalEnergyConsumption", device, millijoules, Column::kEnergy);
}

Return nvmlDeviceGetTemperature(Device device, abi::Selector sensor, unsigned* celsius) {
  if (sensor != abi::temperature_sensor::kGpu) return Return::kInvalidArgument;
  return give("nvmlDeviceGetTemperature", device, celsius, Column::kTemp);
}
Return nvmlDeviceGetTemperatureV(Device device, abi::Temperature* out) {
  return on_gpu("nvmlDeviceGetTemperatureV", device, [&](Gpu& gpu, const Moment& moment) {
    if (!out) return Return::kInvalidArgument;
    if (out->version != abi::version_word<abi::Temperature>(1)) {
      return Return::kArgumentVersionMismatch;
    }
    if (out->sensor_type != abi::temperature_sensor::kGpu) return Return::kInvalidArgument;
    out->temperature = static_cast<int>(gpu.read(Column::kTemp, moment.played_ns));
    return Return::kSuccess;
  });
}
Return nvmlDeviceGetTemperatureThreshold(Device device, abi::Selector threshold,
                                         unsigned* celsius) {
  return on_gpu("nvmlDeviceGetTemperatureThreshold", device, [&](Gpu& gpu, const Moment&) {
    if (!celsius) return Return::kInvalidArgument;
    switch (threshold) {
      case abi::temperature_threshold::kShutdown:
        *celsius = gpu.profile().shutdown_celsius;
        return Return::kSuccess;
      case abi::temperature_threshold::kSlowdown:
        *celsius = gpu.profile().slowdown_celsius;
        return Return::kSuccess;
      case abi::temperature_threshold::kMemMax:
        *celsius = gpu.profile().memory_max_celsius;
        return Return::kSuccess;
      case abi::temperature_threshold::kGpuMax:
        *celsius = gpu.profile().gpu_max_celsius;
        return Return::kSuccess;
      default:
        return Return::kNotSupported;
    }
  });
}
Return nvmlDeviceGetMarginTemperature(Device device, abi::MarginTemperature* out) {
  return on_gpu("nvmlDeviceGetMarginTemperature", device, [&](Gpu& gpu, const Moment& moment) {
    if (!out) return Return::kInvalidArgument;
    if (out->version != abi::version_word<abi::MarginTemperature>(1)) {
      return Return::kArgumentVersionMismatch;
    }
    out->margin_temperature = static_cast<int>(gpu.profile().gpu_max_celsius) -
                              static_cast<int>(gpu.read(Column::kTemp, moment.played_ns));
    return Return::kSuccess;
  });
}
// The recorded GPU is cooled by the machine.
Return nvmlDeviceGetNumFans(Device device, unsigned* out) {
  return give("nvmlDeviceGetNumFans", device, out, [](Gpu&, const Moment&) { return 0u; });
}
Return nvmlDeviceGetFanSpeed_v2(Device device, unsigned, unsigned*) {
  return refuse("nvmlDeviceGetFanSpeed_v2", device);
}
Return nvmlDeviceGetFanSpeed(Device device, unsigned*) {
  return refuse("nvmlDeviceGetFanSpeed", device);
}

Return nvmlDeviceGetClockInfo(Device device, abi::Selector domain, unsigned* mhz) {
  return clock_value("nvmlDeviceGetClockInfo", device, domain, abi::clock_id::kCurrent, mhz);
}
Return nvmlDeviceGetMaxClockInfo(Device device, abi::Selector domain, unsigned* mhz) {
  return clock_value("nvmlDeviceGetMaxClockInfo", device, domain, abi::clock_id::kCustomerBoostMax,
                     mhz);
}
Return nvmlDeviceGetApplicationsClock(Device device, abi::Selector domain, unsigned* mhz) {
  return clock_value("nvmlDeviceGetApplicationsClock", device, domain, abi::clock_id::kAppTarget,
                     mhz);
}
Return nvmlDeviceGetDefaultApplicationsClock(Device device, abi::Selector domain, unsigned* mhz) {
  return clock_value("nvmlDeviceGetDefaultApplicationsClock", device, domain,
                     abi::clock_id::kAppDefault, mhz);
}
Return nvmlDeviceGetClock(Device device, abi::Selector domain, abi::Selector id, unsigned* mhz) {
  if (id > abi::clock_id::kCustomerBoostMax) return Return::kInvalidArgument;
  return clock_value("nvmlDeviceGetClock", device, domain, id, mhz);
}

Return nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* mask) {
  return give("nvmlDeviceGetCurrentClocksEventReasons", device, mask, Column::kReasons);
}
Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* mask) {
  return give("nvmlDeviceGetCurrentClocksThrottleReasons", device, mask, Column::kReasons);
}
Return nvmlDeviceGetSupportedClocksEventReasons(Device device, unsigned long long* mask) {
  return give("nvmlDeviceGetSupportedClocksEventReasons", device, mask,
              [](Gpu&, const Moment&) { return kSupportedReasons; });
}
Return nvmlDeviceGetSupportedClocksThrottleReasons(Device device, unsigned long long* mask) {
  return give("nvmlDeviceGetSupportedClocksThrottleReasons", device, mask,
              [](Gpu&, const Moment&) { return kSupportedReasons; });
}
Return nvmlDeviceGetPerformanceState(Device device, int* state) {
  return performance_state("nvmlDeviceGetPerformanceState", device, state);
}
Return nvmlDeviceGetPowerState(Device device, int* state) {
  return performance_state("nvmlDeviceGetPowerState", device, state);
}
Return nvmlDeviceGetViolationStatus(Device device, abi::Selector policy, abi::ViolationTime* out) {
  return on_gpu("nvmlDeviceGetViolationStatus", device, [&](Gpu& gpu, const Moment& moment) {
    if (!out) return Return::kInvalidArgument;
    out->reference_time = static_cast<unsigned long long>(moment.wall_ns / 1000);
    out->violation_time = 0;
    if (policy == abi::perf_policy::kPower) {
      out->violation_time = gpu.read_u64(Column::kViolPower, moment.played_ns);
    } else if (policy == abi::perf_policy::kThermal) {
      out->violation_time = gpu.read_u64(Column::kViolThermal, moment.played_ns);
    }
    return policy > abi::perf_policy::kTotalBaseClocks ? Return::kInvalidArgument
                                                       : Return::kSuccess;
  });
}

}  // namespace everywatt::sim::driver
