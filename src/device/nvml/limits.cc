// SPDX-License-Identifier: Apache-2.0
//
// Lane kOnce: how far a GPU can go.
#include <array>

#include "device/nvml/source_tables.h"

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::MetricId;
using catalog::Row;
using catalog::State;

void read_memory_size(Device& device, Row& row) {
  abi::MemoryV2 memory{};
  memory.version = abi::version_word<abi::MemoryV2>(2);
  Return code = device.call<Call::kDeviceGetMemoryInfoV2>(&memory);
  if (state_of(code) == State::kNotSupported) {
    abi::Memory old{};
    code = device.call<Call::kDeviceGetMemoryInfo>(&old);
    memory.total = old.total;
  }
  // Nothing of its own: it shares the system's memory.
  if (code == Return::kSuccess && memory.total == 0) code = Return::kNotSupported;
  device.put(row, MetricId::gpu_memory_total_bytes, code, memory.total);
}

void read_bar1_size(Device& device, Row& row) {
  abi::Bar1Memory memory{};
  Return code = device.call<Call::kDeviceGetBar1MemoryInfo>(&memory);
  if (code == Return::kSuccess && memory.total == 0) code = Return::kNotSupported;
  device.put(row, MetricId::gpu_bar1_total_bytes, code, memory.total);
}

void read_power_limits(Device& device, Row& row) {
  unsigned default_mw = 0;
  Return code = device.call<Call::kDeviceGetPowerManagementDefaultLimit>(&default_mw);
  device.put(row, MetricId::gpu_power_limit_default_watts, code, default_mw, kMilli);
  unsigned min_mw = 0;
  unsigned max_mw = 0;
  code = device.call<Call::kDeviceGetPowerManagementLimitConstraints>(&min_mw, &max_mw);
  device.put(row, MetricId::gpu_power_limit_min_watts, code, min_mw, kMilli);
  device.put(row, MetricId::gpu_power_limit_max_watts, code, max_mw, kMilli);
}

template <abi::Selector kThreshold, MetricId kMetric>
void read_threshold(Device& device, Row& row) {
  unsigned celsius = 0;
  const Return code = device.call<Call::kDeviceGetTemperatureThreshold>(kThreshold, &celsius);
  device.put(row, kMetric, code, celsius);
}
template <abi::Selector kThreshold, MetricId kMetric>
constexpr Source threshold() {
  return {kMetrics<kMetric>, read_threshold<kThreshold, kMetric>};
}

template <abi::Selector kClock, MetricId kMetric>
void read_max_clock(Device& device, Row& row) {
  unsigned megahertz = 0;
  const Return code = device.call<Call::kDeviceGetMaxClockInfo>(kClock, &megahertz);
  device.put(row, kMetric, code, megahertz, kMega);
}
template <abi::Selector kClock, MetricId kMetric>
constexpr Source max_clock() {
  return {kMetrics<kMetric>, read_max_clock<kClock, kMetric>};
}

// The driver tells what the GPU can do and what GPU and slot can do together. The slot's own limit
// follows only where it is the lower one.
void read_pcie_generations(Device& device, Row& row) {
  unsigned both = 0;
  unsigned gpu = 0;
  const Return both_code = device.call<Call::kDeviceGetMaxPcieLinkGeneration>(&both);
  const Return gpu_code = device.call<Call::kDeviceGetGpuMaxPcieLinkGeneration>(&gpu);
  device.put(row, MetricId::gpu_pcie_link_generation_max, both_code, both);
  device.put(row, MetricId::gpu_pcie_link_generation_gpu_max, gpu_code, gpu);
  Return host_code = both_code == Return::kSuccess ? gpu_code : both_code;
  if (host_code == Return::kSuccess && both >= gpu) host_code = Return::kNotSupported;
  device.put(row, MetricId::gpu_pcie_link_generation_host_max, host_code, both);
}

void read_gpm_support(Device& device, Row& row) {
  abi::GpmSupport support{};
  support.version = abi::kGpmSupportVersion;
  // Of an instance its GPU tells it.
  const Return code = device.call_gpu<Call::kGpmQueryDeviceSupport>(&support);
  // A library without the function is older than the GPUs that have GPM.
  if (code == Return::kFunctionNotFound || code == Return::kNotSupported) {
    return row.set(MetricId::gpu_gpm_supported, std::uint64_t{0});
  }
  device.put(row, MetricId::gpu_gpm_supported, code, support.is_supported_device);
}

constexpr std::array kSources = {
    Source{kMetrics<MetricId::gpu_memory_total_bytes>, read_memory_size},
    Source{kMetrics<MetricId::gpu_bar1_total_bytes>, read_bar1_size},
    Source{kMetrics<MetricId::gpu_power_limit_default_watts, MetricId::gpu_power_limit_min_watts,
                    MetricId::gpu_power_limit_max_watts>,
           read_power_limits},
    threshold<abi::temperature_threshold::kSlowdown, MetricId::gpu_temperature_slowdown_celsius>(),
    threshold<abi::temperature_threshold::kShutdown, MetricId::gpu_temperature_shutdown_celsius>(),
    threshold<abi::temperature_threshold::kGpuMax, MetricId::gpu_temperature_max_celsius>(),
    threshold<abi::temperature_threshold::kMemMax, MetricId::gpu_temperature_memory_max_celsius>(),
    max_clock<abi::clock::kSm, MetricId::gpu_sm_clock_max_hertz>(),
    max_clock<abi::clock::kMem, MetricId::gpu_memory_clock_max_hertz>(),
    max_clock<abi::clock::kVideo, MetricId::gpu_video_clock_max_hertz>(),
    max_clock<abi::clock::kGraphics, MetricId::gpu_graphics_clock_max_hertz>(),
    Source{
        kMetrics<MetricId::gpu_pcie_link_generation_max, MetricId::gpu_pcie_link_generation_gpu_max,
                 MetricId::gpu_pcie_link_generation_host_max>,
        read_pcie_generations},
    number<Call::kDeviceGetMaxPcieLinkWidth, MetricId::gpu_pcie_link_width_max>(),
    Source{kMetrics<MetricId::gpu_gpm_supported>, read_gpm_support},
    number<Call::kDeviceGetSupportedClocksEventReasons,
           MetricId::gpu_clock_event_reasons_supported_mask, unsigned long long>(),
};

}  // namespace

std::span<const Source> limit_sources() {
  return kSources;
}

}  // namespace everywatt::nvml
