// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "device/nvml/source.h"

// The parts that sources() is put together from, one a file, and what their tables are written
// with.
namespace everywatt::nvml {

std::span<const Source> gauge_sources();
std::span<const Source> slow_sources();
std::span<const Source> memory_error_sources();  // kSlow
std::span<const Source> link_sources();          // kSlow
std::span<const Source> identity_sources();      // kOnce
std::span<const Source> limit_sources();         // kOnce

// As many NVLinks as the metrics have instances: what Hopper and Blackwell have.
inline constexpr unsigned kLinks = 18;

// The metrics of a source, as its row in a table wants them.
template <catalog::MetricId... kIds>
inline constexpr std::array kMetrics = {kIds...};

// A source of one metric that is one number behind one call without arguments.
template <Call kCall, catalog::MetricId kMetric, typename Number>
void read_number(Device& device, catalog::Row& row) {
  Number number = 0;
  const abi::Return code = device.call<kCall>(&number);
  device.put(row, kMetric, code, number);
}
template <Call kCall, catalog::MetricId kMetric, typename Number = unsigned>
constexpr Source number() {
  return {kMetrics<kMetric>, read_number<kCall, kMetric, Number>};
}

}  // namespace everywatt::nvml
