// SPDX-License-Identifier: Apache-2.0
//
// Lane kSlow: errors of the memories, and what became of the places where they happened.
#include <array>

#include "device/nvml/source_tables.h"

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::MetricId;
using catalog::Row;
using catalog::State;

constexpr unsigned kLocations = abi::memory_location::kSram + 1;

template <abi::Selector kError, abi::Selector kCounter, MetricId kMetric>
void read_total(Device& device, Row& row) {
  unsigned long long errors = 0;
  const Return code = device.call<Call::kDeviceGetTotalEccErrors>(kError, kCounter, &errors);
  device.put(row, kMetric, code, errors);
}
template <abi::Selector kError, abi::Selector kCounter, MetricId kMetric>
constexpr Source total() {
  return {kMetrics<kMetric>, read_total<kError, kCounter, kMetric>};
}

template <abi::Selector kError, abi::Selector kCounter, MetricId kMetric>
void read_locations(Device& device, Row& row) {
  for (unsigned location = 0; location < kLocations; ++location) {
    unsigned long long errors = 0;
    const Return code =
        device.call<Call::kDeviceGetMemoryErrorCounter>(kError, kCounter, location, &errors);
    device.put(row, kMetric, code, errors, kSame, location);
  }
}
template <abi::Selector kError, abi::Selector kCounter, MetricId kMetric>
constexpr Source locations() {
  return {kMetrics<kMetric>, read_locations<kError, kCounter, kMetric>};
}

void read_sram(Device& device, Row& row) {
  abi::EccSramErrorStatus status{};
  status.version = abi::version_word<abi::EccSramErrorStatus>(1);
  const Return code = device.call<Call::kDeviceGetSramEccErrorStatus>(&status);
  device.put(row, MetricId::gpu_ecc_sram_threshold_exceeded, code, status.threshold_exceeded);
}

template <abi::Selector kCause, MetricId kMetric>
void read_retired(Device& device, Row& row) {
  unsigned pages = 0;
  // No room given: the driver tells the number and complains about the room when there are any.
  Return code = device.call<Call::kDeviceGetRetiredPagesV2>(
      kCause, &pages, static_cast<unsigned long long*>(nullptr),
      static_cast<unsigned long long*>(nullptr));
  if (code == Return::kFunctionNotFound) {
    code = device.call<Call::kDeviceGetRetiredPages>(kCause, &pages,
                                                     static_cast<unsigned long long*>(nullptr));
  }
  if (code == Return::kInsufficientSize) code = Return::kSuccess;
  device.put(row, kMetric, code, pages);
}
template <abi::Selector kCause, MetricId kMetric>
constexpr Source retired() {
  return {kMetrics<kMetric>, read_retired<kCause, kMetric>};
}

void read_remapped(Device& device, Row& row) {
  unsigned correctable = 0;
  unsigned uncorrectable = 0;
  unsigned is_pending = 0;
  unsigned has_failed = 0;
  const Return code = device.call<Call::kDeviceGetRemappedRows>(&correctable, &uncorrectable,
                                                                &is_pending, &has_failed);
  device.put(row, MetricId::gpu_remapped_rows_correctable_total, code, correctable);
  device.put(row, MetricId::gpu_remapped_rows_uncorrectable_total, code, uncorrectable);
  device.put(row, MetricId::gpu_remapped_rows_pending, code, is_pending);
  device.put(row, MetricId::gpu_remapped_rows_failure, code, has_failed);
}

void read_histogram(Device& device, Row& row) {
  abi::RowRemapperHistogram banks{};
  const Return code = device.call<Call::kDeviceGetRowRemapperHistogram>(&banks);
  device.put(row, MetricId::gpu_remap_banks_max, code, banks.max);
  device.put(row, MetricId::gpu_remap_banks_high, code, banks.high);
  device.put(row, MetricId::gpu_remap_banks_partial, code, banks.partial);
  device.put(row, MetricId::gpu_remap_banks_low, code, banks.low);
  device.put(row, MetricId::gpu_remap_banks_none, code, banks.none);
}

constexpr auto kCorrected = abi::ecc_error::kCorrected;
constexpr auto kUncorrected = abi::ecc_error::kUncorrected;
constexpr auto kVolatile = abi::ecc_counter::kVolatile;
constexpr auto kAggregate = abi::ecc_counter::kAggregate;

constexpr std::array kSources = {
    total<kCorrected, kVolatile, MetricId::gpu_ecc_corrected_volatile_errors_total>(),
    total<kUncorrected, kVolatile, MetricId::gpu_ecc_uncorrected_volatile_errors_total>(),
    total<kCorrected, kAggregate, MetricId::gpu_ecc_corrected_aggregate_errors_total>(),
    total<kUncorrected, kAggregate, MetricId::gpu_ecc_uncorrected_aggregate_errors_total>(),
    locations<kCorrected, kVolatile, MetricId::gpu_ecc_location_corrected_volatile_errors_total>(),
    locations<kUncorrected, kVolatile,
              MetricId::gpu_ecc_location_uncorrected_volatile_errors_total>(),
    locations<kCorrected, kAggregate,
              MetricId::gpu_ecc_location_corrected_aggregate_errors_total>(),
    locations<kUncorrected, kAggregate,
              MetricId::gpu_ecc_location_uncorrected_aggregate_errors_total>(),
    Source{kMetrics<MetricId::gpu_ecc_sram_threshold_exceeded>, read_sram},
    retired<abi::retirement_cause::kMultipleSingleBit,
            MetricId::gpu_retired_pages_single_bit_total>(),
    retired<abi::retirement_cause::kDoubleBit, MetricId::gpu_retired_pages_double_bit_total>(),
    number<Call::kDeviceGetRetiredPagesPendingStatus, MetricId::gpu_retired_pages_pending>(),
    Source{kMetrics<MetricId::gpu_remapped_rows_correctable_total,
                    MetricId::gpu_remapped_rows_uncorrectable_total,
                    MetricId::gpu_remapped_rows_pending, MetricId::gpu_remapped_rows_failure>,
           read_remapped},
    Source{kMetrics<MetricId::gpu_remap_banks_max, MetricId::gpu_remap_banks_high,
                    MetricId::gpu_remap_banks_partial, MetricId::gpu_remap_banks_low,
                    MetricId::gpu_remap_banks_none>,
           read_histogram},
};

}  // namespace

std::span<const Source> memory_error_sources() {
  return kSources;
}

}  // namespace everywatt::nvml
