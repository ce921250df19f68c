// SPDX-License-Identifier: Apache-2.0
//
// Lane kSlow: the NVLinks, one instance of each metric a link.
#include <array>

#include "device/nvml/source_tables.h"

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::MetricId;
using catalog::Row;

constexpr unsigned kLinks = 18;  // instances of the metrics; what Hopper and Blackwell have

// Fills one metric for all links by `ask(link, number)`. The first refusal stands for the links
// behind it too: a GPU without NVLink costs one call.
template <typename Number, typename Ask>
void read_links(Device& device, Row& row, MetricId metric, Ask ask) {
  Return code = Return::kSuccess;
  for (unsigned link = 0; link < kLinks; ++link) {
    Number number = 0;
    if (state_of(code) != catalog::State::kNotSupported) code = ask(link, &number);
    device.put(row, metric, code, number, kSame, link);
  }
}

template <Call kCall, MetricId kMetric>
void read_each(Device& device, Row& row) {
  read_links<unsigned>(device, row, kMetric, [&](unsigned link, unsigned* number) {
    return device.call<kCall>(link, number);
  });
}
template <Call kCall, MetricId kMetric>
constexpr Source each() {
  return {kMetrics<kMetric>, read_each<kCall, kMetric>};
}

template <abi::Selector kError, MetricId kMetric>
void read_errors(Device& device, Row& row) {
  read_links<unsigned long long>(
      device, row, kMetric, [&](unsigned link, unsigned long long* number) {
        return device.call<Call::kDeviceGetNvLinkErrorCounter>(link, kError, number);
      });
}
template <abi::Selector kError, MetricId kMetric>
constexpr Source errors() {
  return {kMetrics<kMetric>, read_errors<kError, kMetric>};
}

// What is at the other end is not always a GPU: "unknown" is a true answer, not a blank.
void read_remote_types(Device& device, Row& row) {
  read_links<unsigned>(device, row, MetricId::gpu_nvlink_remote_type,
                       [&](unsigned link, unsigned* type) {
                         return device.call<Call::kDeviceGetNvLinkRemoteDeviceType>(link, type);
                       });
}

void read_traffic(Device& device, Row& row) {
  std::array<Field, 2 * kLinks> fields{};
  for (unsigned link = 0; link < kLinks; ++link) {
    fields[link] = {.id = abi::field::kNvLinkDataTx, .scope = link};
    fields[kLinks + link] = {.id = abi::field::kNvLinkDataRx, .scope = link};
  }
  device.read_fields(fields);
  for (unsigned link = 0; link < kLinks; ++link) {
    device.put(row, MetricId::gpu_nvlink_transmit_bytes_total, fields[link], kKibi, link);
    device.put(row, MetricId::gpu_nvlink_receive_bytes_total, fields[kLinks + link], kKibi, link);
  }
}

constexpr std::array kSources = {
    each<Call::kDeviceGetNvLinkState, MetricId::gpu_nvlink_state>(),
    each<Call::kDeviceGetNvLinkVersion, MetricId::gpu_nvlink_version>(),
    Source{kMetrics<MetricId::gpu_nvlink_remote_type>, read_remote_types},
    errors<abi::nvlink_error::kCrcFlit, MetricId::gpu_nvlink_crc_flit_errors_total>(),
    errors<abi::nvlink_error::kCrcData, MetricId::gpu_nvlink_crc_data_errors_total>(),
    errors<abi::nvlink_error::kReplay, MetricId::gpu_nvlink_replay_errors_total>(),
    errors<abi::nvlink_error::kRecovery, MetricId::gpu_nvlink_recovery_errors_total>(),
    Source{kMetrics<MetricId::gpu_nvlink_transmit_bytes_total,
                    MetricId::gpu_nvlink_receive_bytes_total>,
           read_traffic},
};

}  // namespace

std::span<const Source> link_sources() {
  return kSources;
}

}  // namespace everywatt::nvml
