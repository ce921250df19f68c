// SPDX-License-Identifier: Apache-2.0
//
// Lane kGauge: the readings that cost some microseconds each.
#include "device/nvml/source_tables.h"

#include <array>

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::MetricId;
using catalog::Reading;
using catalog::Row;
using catalog::State;

void read_utilization(Device& device, Row& row) {
  abi::Utilization rates{};
  const Return code = device.call<Call::kDeviceGetUtilizationRates>(&rates);
  device.put(row, MetricId::gpu_utilization_ratio, code, rates.gpu, kPercent);
  device.put(row, MetricId::gpu_memory_controller_active_ratio, code, rates.memory, kPercent);
}

template <Call kCall, MetricId kMetric>
void read_engine(Device& device, Row& row) {
  unsigned percent = 0;
  unsigned period_us = 0;
  const Return code = device.call<kCall>(&percent, &period_us);
  device.put(row, kMetric, code, percent, kPercent);
}

void read_memory(Device& device, Row& row) {
  abi::MemoryV2 memory{};
  memory.version = abi::version_word<abi::MemoryV2>(2);
  const Return code = device.call<Call::kDeviceGetMemoryInfoV2>(&memory);
  // A driver that says "yes" and knows of no memory shares the system's.
  const Return meaning =
      code == Return::kSuccess && memory.total == 0 ? Return::kNotSupported : code;
  if (state_of(code) != State::kNotSupported) {
    device.put(row, MetricId::gpu_memory_used_bytes, meaning, memory.used);
    device.put(row, MetricId::gpu_memory_free_bytes, meaning, memory.free);
    device.put(row, MetricId::gpu_memory_reserved_bytes, meaning, memory.reserved);
    return;
  }
  // The old call counts the driver's own share as used: then used is not what programs hold, and
  // reserved is unknown rather than 0.
  abi::Memory old{};
  Return old_code = device.call<Call::kDeviceGetMemoryInfo>(&old);
  if (old_code == Return::kSuccess && old.total == 0) old_code = Return::kNotSupported;
  device.put(row, MetricId::gpu_memory_used_bytes, old_code, old.used);
  device.put(row, MetricId::gpu_memory_free_bytes, old_code, old.free);
  row.set_absent(MetricId::gpu_memory_reserved_bytes,
                 old_code == Return::kSuccess ? State::kNotSupported : state_of(old_code));
}

void read_power(Device& device, Row& row) {
  unsigned milliwatts = 0;
  const Return code = device.call<Call::kDeviceGetPowerUsage>(&milliwatts);
  device.put(row, MetricId::gpu_power_watts, code, milliwatts, kMilli);
}

void read_gauge_fields(Device& device, Row& row) {
  std::array fields = {Field{.id = abi::field::kPowerInstant},
                       Field{.id = abi::field::kMemoryTemperature},
                       Field{.id = abi::field::kViolationPower}};
  device.read_fields(fields);
  device.put(row, MetricId::gpu_power_instant_watts, fields[0], kMilli);
  device.put(row, MetricId::gpu_memory_temperature_celsius, fields[1]);
  device.put(row, MetricId::gpu_power_violation_seconds_total, fields[2], kNano);
}

void read_temperature(Device& device, Row& row) {
  abi::Temperature temperature{};
  temperature.version = abi::version_word<abi::Temperature>(1);
  temperature.sensor_type = static_cast<int>(abi::temperature_sensor::kGpu);
  const Return code = device.call<Call::kDeviceGetTemperatureV>(&temperature);
  if (state_of(code) != State::kNotSupported) {
    return device.put(row, MetricId::gpu_temperature_celsius, code, temperature.temperature);
  }
  unsigned celsius = 0;
  const Return old_code =
      device.call<Call::kDeviceGetTemperature>(abi::temperature_sensor::kGpu, &celsius);
  device.put(row, MetricId::gpu_temperature_celsius, old_code, celsius);
}

template <abi::Selector kClock, MetricId kMetric>
void read_clock(Device& device, Row& row) {
  unsigned megahertz = 0;
  const Return code = device.call<Call::kDeviceGetClockInfo>(kClock, &megahertz);
  device.put(row, kMetric, code, megahertz, kMega);
}

void read_performance_state(Device& device, Row& row) {
  int state = 0;
  Return code = device.call<Call::kDeviceGetPerformanceState>(&state);
  if (code == Return::kSuccess && state == abi::kPstateUnknown) code = Return::kNotSupported;
  device.put(row, MetricId::gpu_performance_state, code, state);
}

template <Call kCall, MetricId kMetric>
constexpr Source engine() {
  return {kMetrics<kMetric>, read_engine<kCall, kMetric>};
}
template <abi::Selector kClock, MetricId kMetric>
constexpr Source clock() {
  return {kMetrics<kMetric>, read_clock<kClock, kMetric>};
}

constexpr std::array kSources = {
    Source{kMetrics<MetricId::gpu_utilization_ratio, MetricId::gpu_memory_controller_active_ratio>,
           read_utilization},
    Source{kMetrics<MetricId::gpu_memory_used_bytes, MetricId::gpu_memory_free_bytes,
                    MetricId::gpu_memory_reserved_bytes>,
           read_memory},
    Source{kMetrics<MetricId::gpu_power_watts>, read_power},
    Source{kMetrics<MetricId::gpu_power_instant_watts, MetricId::gpu_memory_temperature_celsius,
                    MetricId::gpu_power_violation_seconds_total>,
           read_gauge_fields},
    Source{kMetrics<MetricId::gpu_temperature_celsius>, read_temperature},
    clock<abi::clock::kSm, MetricId::gpu_sm_clock_hertz>(),
    clock<abi::clock::kMem, MetricId::gpu_memory_clock_hertz>(),
    clock<abi::clock::kVideo, MetricId::gpu_video_clock_hertz>(),
    clock<abi::clock::kGraphics, MetricId::gpu_graphics_clock_hertz>(),
    number<Call::kDeviceGetCurrentClocksEventReasons, MetricId::gpu_clock_event_reasons_mask,
           unsigned long long>(),
    Source{kMetrics<MetricId::gpu_performance_state>, read_performance_state},
    engine<Call::kDeviceGetEncoderUtilization, MetricId::gpu_encoder_utilization_ratio>(),
    engine<Call::kDeviceGetDecoderUtilization, MetricId::gpu_decoder_utilization_ratio>(),
    engine<Call::kDeviceGetJpgUtilization, MetricId::gpu_jpeg_utilization_ratio>(),
    engine<Call::kDeviceGetOfaUtilization, MetricId::gpu_ofa_utilization_ratio>(),
};

}  // namespace

std::span<const Source> gauge_sources() {
  return kSources;
}

}  // namespace everywatt::nvml
