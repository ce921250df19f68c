// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/host/disks.h"
#include "device/host/interfaces.h"
#include "device/host/open_file.h"
#include "device/host/root.h"
#include "record/hostwatch/complaints.h"
#include "record/hostwatch/named_devices.h"

namespace everywatt::hostwatch {

// The machine's disks, network interfaces and InfiniBand ports: lane kHost each tick.
class DeviceWatch {
 public:
  DeviceWatch(const host::Root& root, recorder::File& file, const recorder::Reader& reader);

  void tick(std::int64_t now_ns, Complaints& complaints);

 private:
  void read_disks(std::int64_t now_ns, Complaints& complaints);
  void read_interfaces(std::int64_t now_ns, Complaints& complaints);
  void read_infiniband(std::int64_t now_ns, Complaints& complaints);

  host::Root root_;
  host::OpenFile diskstats_;
  host::OpenFile net_dev_;
  NamedDevices disk_slots_;
  NamedDevices interface_slots_;
  NamedDevices port_slots_;
  std::vector<host::Disk> disks_;
  std::vector<host::Interface> interfaces_;
  std::vector<std::string> ports_;
  std::int64_t next_port_listing_ns_ = 0;
};

}  // namespace everywatt::hostwatch
