// SPDX-License-Identifier: Apache-2.0
//
// Lane kSlow: what is dear to read or changes seldom, apart from memory errors and links.
#include <algorithm>
#include <array>

#include "device/nvml/source_tables.h"

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::MetricId;
using catalog::Row;
using catalog::State;

constexpr unsigned kFans = 4;  // instances of gpu_fan_speed_ratio

void read_energy(Device& device, Row& row) {
  unsigned long long millijoules = 0;
  const Return code = device.call<Call::kDeviceGetTotalEnergyConsumption>(&millijoules);
  device.put(row, MetricId::gpu_energy_joules_total, code, millijoules, kMilli);
}

void read_bar1(Device& device, Row& row) {
  abi::Bar1Memory memory{};
  Return code = device.call<Call::kDeviceGetBar1MemoryInfo>(&memory);
  if (code == Return::kSuccess && memory.total == 0) code = Return::kNotSupported;
  device.put(row, MetricId::gpu_bar1_used_bytes, code, memory.used);
  device.put(row, MetricId::gpu_bar1_free_bytes, code, memory.free);
}

// A fan that does not exist stands for those behind it too.
void read_fans(Device& device, Row& row) {
  unsigned fans = 0;
  const Return counted = device.call<Call::kDeviceGetNumFans>(&fans);
  const bool is_counted = counted == Return::kSuccess;
  const State absence = is_counted ? State::kNotSupported : state_of(counted);
  row.set_absent(MetricId::gpu_fan_speed_ratio, absence);
  // A library without the question may know of some all the same.
  if (!is_counted && absence == State::kNotSupported) fans = kFans;
  Return code = Return::kSuccess;
  for (unsigned fan = 0; fan < std::min(fans, kFans); ++fan) {
    unsigned percent = 0;
    if (state_of(code) != State::kNotSupported) {
      code = device.call<Call::kDeviceGetFanSpeedV2>(fan, &percent);
    }
    Return told = code;
    // The old call knows of one fan only.
    if (code == Return::kFunctionNotFound && fan == 0) {
      told = device.call<Call::kDeviceGetFanSpeed>(&percent);
    }
    device.put(row, MetricId::gpu_fan_speed_ratio, told, percent, kPercent, fan);
  }
}

struct Violation {
  unsigned field;
  MetricId metric;
};
constexpr std::array kViolations = {
    Violation{abi::field::kViolationThermal, MetricId::gpu_thermal_violation_seconds_total},
    Violation{abi::field::kViolationSyncBoost, MetricId::gpu_sync_boost_violation_seconds_total},
    Violation{abi::field::kViolationBoardLimit, MetricId::gpu_board_limit_violation_seconds_total},
    Violation{abi::field::kViolationLowUtilization,
              MetricId::gpu_low_utilization_violation_seconds_total},
    Violation{abi::field::kViolationReliability, MetricId::gpu_reliability_violation_seconds_total},
    Violation{abi::field::kViolationTotalAppClocks,
              MetricId::gpu_application_clocks_violation_seconds_total},
    Violation{abi::field::kViolationTotalBaseClocks,
              MetricId::gpu_base_clocks_violation_seconds_total},
};
constexpr auto kViolationMetrics = [] {
  std::array<MetricId, kViolations.size()> metrics{};
  for (std::size_t i = 0; i < metrics.size(); ++i)
    metrics[i] = kViolations[i].metric;
  return metrics;
}();

void read_violations(Device& device, Row& row) {
  std::array<Field, kViolations.size()> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i)
    fields[i].id = kViolations[i].field;
  device.read_fields(fields);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    device.put(row, kViolations[i].metric, fields[i], kNano);
  }
}

template <Call kCall, MetricId kMetric>
void read_limit(Device& device, Row& row) {
  unsigned milliwatts = 0;
  const Return code = device.call<kCall>(&milliwatts);
  device.put(row, kMetric, code, milliwatts, kMilli);
}
template <Call kCall, MetricId kMetric>
constexpr Source limit() {
  return {kMetrics<kMetric>, read_limit<kCall, kMetric>};
}

template <abi::Selector kClock, MetricId kMetric>
void read_application_clock(Device& device, Row& row) {
  unsigned megahertz = 0;
  const Return code = device.call<Call::kDeviceGetApplicationsClock>(kClock, &megahertz);
  device.put(row, kMetric, code, megahertz, kMega);
}
template <abi::Selector kClock, MetricId kMetric>
constexpr Source application_clock() {
  return {kMetrics<kMetric>, read_application_clock<kClock, kMetric>};
}

template <Call kCall, MetricId kCurrent, MetricId kPending>
void read_mode(Device& device, Row& row) {
  unsigned current = 0;
  unsigned pending = 0;
  const Return code = device.call<kCall>(&current, &pending);
  device.put(row, kCurrent, code, current);
  device.put(row, kPending, code, pending);
}

void read_recovery_action(Device& device, Row& row) {
  std::array fields = {Field{.id = abi::field::kGpuRecoveryAction}};
  device.read_fields(fields);
  device.put(row, MetricId::gpu_recovery_action, fields[0]);
}

constexpr std::array kSources = {
    Source{kMetrics<MetricId::gpu_energy_joules_total>, read_energy},
    number<Call::kDeviceGetPcieReplayCounter, MetricId::gpu_pcie_replays_total>(),
    number<Call::kDeviceGetCurrPcieLinkGeneration, MetricId::gpu_pcie_link_generation>(),
    number<Call::kDeviceGetCurrPcieLinkWidth, MetricId::gpu_pcie_link_width>(),
    Source{kMetrics<MetricId::gpu_bar1_used_bytes, MetricId::gpu_bar1_free_bytes>, read_bar1},
    Source{kMetrics<MetricId::gpu_fan_speed_ratio>, read_fans},
    Source{kViolationMetrics, read_violations},
    limit<Call::kDeviceGetEnforcedPowerLimit, MetricId::gpu_power_limit_enforced_watts>(),
    limit<Call::kDeviceGetPowerManagementLimit, MetricId::gpu_power_limit_requested_watts>(),
    application_clock<abi::clock::kSm, MetricId::gpu_sm_application_clock_hertz>(),
    application_clock<abi::clock::kMem, MetricId::gpu_memory_application_clock_hertz>(),
    number<Call::kDeviceGetPersistenceMode, MetricId::gpu_persistence_mode>(),
    number<Call::kDeviceGetComputeMode, MetricId::gpu_compute_mode>(),
    Source{
        kMetrics<MetricId::gpu_mig_mode, MetricId::gpu_mig_mode_pending>,
        read_mode<Call::kDeviceGetMigMode, MetricId::gpu_mig_mode, MetricId::gpu_mig_mode_pending>},
    Source{
        kMetrics<MetricId::gpu_ecc_mode, MetricId::gpu_ecc_mode_pending>,
        read_mode<Call::kDeviceGetEccMode, MetricId::gpu_ecc_mode, MetricId::gpu_ecc_mode_pending>},
    Source{kMetrics<MetricId::gpu_recovery_action>, read_recovery_action},
};

}  // namespace

std::span<const Source> slow_sources() {
  return kSources;
}

}  // namespace everywatt::nvml
