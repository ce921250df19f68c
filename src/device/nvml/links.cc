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
using catalog::State;

constexpr auto& kLinkMetrics =
    kMetrics<MetricId::gpu_nvlink_state, MetricId::gpu_nvlink_version,
             MetricId::gpu_nvlink_remote_type, MetricId::gpu_nvlink_crc_flit_errors_total,
             MetricId::gpu_nvlink_crc_data_errors_total, MetricId::gpu_nvlink_replay_errors_total,
             MetricId::gpu_nvlink_recovery_errors_total, MetricId::gpu_nvlink_transmit_bytes_total,
             MetricId::gpu_nvlink_receive_bytes_total, MetricId::gpu_nvlink_bytes_per_second>;

struct ErrorCount {
  abi::Selector kind;
  MetricId metric;
};
constexpr std::array kErrors = {
    ErrorCount{abi::nvlink_error::kCrcFlit, MetricId::gpu_nvlink_crc_flit_errors_total},
    ErrorCount{abi::nvlink_error::kCrcData, MetricId::gpu_nvlink_crc_data_errors_total},
    ErrorCount{abi::nvlink_error::kReplay, MetricId::gpu_nvlink_replay_errors_total},
    ErrorCount{abi::nvlink_error::kRecovery, MetricId::gpu_nvlink_recovery_errors_total},
};

// The links that the GPU has, by their numbers, and which of them are up.
struct Links {
  unsigned count = 0;
  std::array<bool, kLinks> is_up{};
};

// The first number that the driver does not know is behind the last link. A link that it cannot
// tell of is one.
Links read_states(Device& device, Row& row) {
  Links links;
  for (; links.count < kLinks; ++links.count) {
    unsigned is_up = 0;
    const Return code = device.call<Call::kDeviceGetNvLinkState>(links.count, &is_up);
    if (state_of(code) == State::kNotSupported) break;
    device.put(row, MetricId::gpu_nvlink_state, code, is_up, kSame, links.count);
    links.is_up[links.count] = code == Return::kSuccess && is_up == 1;
  }
  return links;
}

// Fills one metric by `ask(link, number)`. What is refused on a link that is up is refused on the
// links behind it too, and not asked there: older and newer GPUs count less. A link that is down
// is refused for itself.
template <typename Number, typename Ask>
void read_each(Device& device, Row& row, const Links& links, MetricId metric, Ask ask) {
  Return code = Return::kSuccess;
  bool is_refused = false;
  for (unsigned link = 0; link < links.count; ++link) {
    Number number = 0;
    if (!is_refused) code = ask(link, &number);
    is_refused = is_refused || (links.is_up[link] && state_of(code) == State::kNotSupported);
    device.put(row, metric, code, number, kSame, link);
  }
}

void read_traffic(Device& device, Row& row, const Links& links) {
  std::array<Field, 2 * kLinks> fields{};
  for (unsigned link = 0; link < links.count; ++link) {
    fields[link] = {.id = abi::field::kNvLinkDataTx, .scope = link};
    fields[links.count + link] = {.id = abi::field::kNvLinkDataRx, .scope = link};
  }
  device.read_fields(std::span(fields).first(std::size_t{2} * links.count));
  for (unsigned link = 0; link < links.count; ++link) {
    device.put(row, MetricId::gpu_nvlink_transmit_bytes_total, fields[link], kKibi, link);
    device.put(row, MetricId::gpu_nvlink_receive_bytes_total, fields[links.count + link], kKibi,
               link);
  }
}

// The counts of before and now must be of as many links, or the difference is no traffic.
void put_rate(Device& device, Row& row, const Links& links) {
  constexpr MetricId kRate = MetricId::gpu_nvlink_bytes_per_second;
  Device::LinkTraffic now{.time_ns = row.time_ns};
  State absence = State::kNotSupported;
  for (unsigned link = 0; link < links.count; ++link) {
    for (const MetricId id :
         {MetricId::gpu_nvlink_transmit_bytes_total, MetricId::gpu_nvlink_receive_bytes_total}) {
      const catalog::Reading bytes = row.reading(id, link);
      if (!bytes.is_ok()) {
        absence = bytes.state;
        continue;
      }
      ++now.counts;
      now.bytes += static_cast<double>(bytes.u64());
    }
  }
  const Device::LinkTraffic before = device.exchange_link_traffic(now);
  if (now.counts == 0) return row.set_absent(kRate, absence);
  const bool has_moved_on = now.time_ns > before.time_ns && now.bytes >= before.bytes;
  if (before.counts != now.counts || !has_moved_on) {
    return row.set_absent(kRate, State::kNoNewValue);
  }
  const double seconds = static_cast<double>(now.time_ns - before.time_ns) / 1e9;
  device.put_value(row, kRate, (now.bytes - before.bytes) / seconds);
}

// A GPU without NVLink costs one call.
void read_links(Device& device, Row& row) {
  for (const MetricId metric : kLinkMetrics)
    row.set_absent(metric, State::kNotSupported);
  const Links links = read_states(device, row);
  if (links.count == 0) return;
  read_each<unsigned>(device, row, links, MetricId::gpu_nvlink_version,
                      [&](unsigned link, unsigned* version) {
                        return device.call<Call::kDeviceGetNvLinkVersion>(link, version);
                      });
  // What is at the other end is not always a GPU: "unknown" is a true answer, not a blank.
  read_each<unsigned>(device, row, links, MetricId::gpu_nvlink_remote_type,
                      [&](unsigned link, unsigned* type) {
                        return device.call<Call::kDeviceGetNvLinkRemoteDeviceType>(link, type);
                      });
  for (const ErrorCount& error : kErrors) {
    read_each<unsigned long long>(
        device, row, links, error.metric, [&](unsigned link, unsigned long long* number) {
          return device.call<Call::kDeviceGetNvLinkErrorCounter>(link, error.kind, number);
        });
  }
  read_traffic(device, row, links);
  put_rate(device, row, links);
}

constexpr std::array kSources = {
    Source{kLinkMetrics, read_links},
};

}  // namespace

std::span<const Source> link_sources() {
  return kSources;
}

}  // namespace everywatt::nvml
