// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/device_watch.h"

#include <optional>

#include "device/host/infiniband.h"

namespace everywatt::hostwatch {
namespace {

using catalog::MetricId;

// Adapters do not come and go; a container's network may move one.
constexpr std::int64_t kPortListingNs = 60'000'000'000;

template <typename T>
void put(catalog::Row& row, MetricId metric, std::optional<T> value) {
  if (value) {
    row.set(metric, *value);
  } else {
    row.set_absent(metric, catalog::State::kNotSupported);
  }
}

// /proc/net shows the network of who reads it; the first process has the machine's, also where we
// run in a container.
std::string net_dev_path(const host::Root& root) {
  const std::string first = "/proc/1/net/dev";
  const auto text = root.read(first);
  const bool is_denied = !text && (text.error().code == base::Code::kNotFound ||
                                   text.error().code == base::Code::kNoPermission);
  return is_denied ? "/proc/net/dev" : first;
}

}  // namespace

DeviceWatch::DeviceWatch(const host::Root& root, recorder::File& file,
                         const recorder::Reader& reader)
    : root_(root),
      diskstats_(root, "/proc/diskstats"),
      net_dev_(root, net_dev_path(root)),
      disk_slots_(file, reader, catalog::Scope::kDisk, MetricId::host_disk_name),
      interface_slots_(file, reader, catalog::Scope::kInterface, MetricId::host_interface_name),
      port_slots_(file, reader, catalog::Scope::kInfiniband, MetricId::host_infiniband_name) {}

void DeviceWatch::tick(std::int64_t now_ns, Complaints& complaints) {
  read_disks(now_ns, complaints);
  read_interfaces(now_ns, complaints);
  read_infiniband(now_ns, complaints);
}

void DeviceWatch::read_disks(std::int64_t now_ns, Complaints& complaints) {
  const auto text = diskstats_.read();
  if (!text) {
    complaints.failed(diskstats_.path(), text.error());
    return;
  }
  complaints.worked(diskstats_.path());
  host::parse_disks(*text, disks_);
  disk_slots_.begin_tick(now_ns);
  for (const host::Disk& disk : disks_) {
    catalog::Row* row = disk_slots_.start(disk.name, complaints);
    if (row == nullptr) continue;
    row->set(MetricId::host_disk_read_bytes_total, disk.read_bytes);
    row->set(MetricId::host_disk_written_bytes_total, disk.written_bytes);
    row->set(MetricId::host_disk_reads_total, disk.reads);
    row->set(MetricId::host_disk_writes_total, disk.writes);
    row->set(MetricId::host_disk_io_seconds_total, disk.busy_seconds);
    row->set(MetricId::host_disk_wait_seconds_total, disk.wait_seconds);
    disk_slots_.append();
  }
  disk_slots_.end_tick();
}

void DeviceWatch::read_interfaces(std::int64_t now_ns, Complaints& complaints) {
  const auto text = net_dev_.read();
  if (!text) {
    complaints.failed(net_dev_.path(), text.error());
    return;
  }
  complaints.worked(net_dev_.path());
  host::parse_interfaces(*text, interfaces_);
  interface_slots_.begin_tick(now_ns);
  for (const host::Interface& interface : interfaces_) {
    catalog::Row* row = interface_slots_.start(interface.name, complaints);
    if (row == nullptr) continue;
    row->set(MetricId::host_interface_receive_bytes_total, interface.received_bytes);
    row->set(MetricId::host_interface_transmit_bytes_total, interface.sent_bytes);
    row->set(MetricId::host_interface_receive_drops_total, interface.received_drops);
    row->set(MetricId::host_interface_receive_errors_total, interface.received_errors);
    row->set(MetricId::host_interface_transmit_drops_total, interface.sent_drops);
    row->set(MetricId::host_interface_transmit_errors_total, interface.sent_errors);
    interface_slots_.append();
  }
  interface_slots_.end_tick();
}

void DeviceWatch::read_infiniband(std::int64_t now_ns, Complaints& complaints) {
  if (now_ns >= next_port_listing_ns_) {
    next_port_listing_ns_ = now_ns + kPortListingNs;
    ports_ = host::list_infiniband(root_);
  }
  port_slots_.begin_tick(now_ns);
  for (const std::string& name : ports_) {
    catalog::Row* row = port_slots_.start(name, complaints);
    if (row == nullptr) continue;
    const host::InfinibandPort port = host::read_infiniband(root_, name);
    if (!port.state) continue;  // taken away since it was listed
    put(*row, MetricId::host_infiniband_receive_bytes_total, port.received_bytes);
    put(*row, MetricId::host_infiniband_transmit_bytes_total, port.sent_bytes);
    row->set(MetricId::host_infiniband_state, std::uint64_t{*port.state});
    put(*row, MetricId::host_infiniband_rate_bytes_per_second, port.rate_bytes_per_second);
    put(*row, MetricId::host_infiniband_symbol_errors_total, port.symbol_errors);
    put(*row, MetricId::host_infiniband_link_recoveries_total, port.link_recoveries);
    put(*row, MetricId::host_infiniband_link_downs_total, port.link_downs);
    put(*row, MetricId::host_infiniband_receive_errors_total, port.received_errors);
    put(*row, MetricId::host_infiniband_transmit_discards_total, port.sent_discards);
    port_slots_.append();
  }
  port_slots_.end_tick();
}

}  // namespace everywatt::hostwatch
