// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/host/disks.h"
#include "device/host/fake_root.h"
#include "device/host/infiniband.h"
#include "device/host/interfaces.h"
#include "device/host/pci.h"

namespace everywatt::host {
namespace {

TEST(Disks, AreWholeDisksOnly) {
  for (const char* name : {"sda", "sdab", "vda", "xvdb", "hda", "nvme0n1", "nvme10n2", "mmcblk0",
                           "pmem1", "nbd3", "rbd0", "dasda"}) {
    EXPECT_TRUE(is_whole_disk(name)) << name;
  }
  for (const char* name : {"sda1", "vda15", "nvme0n1p1", "nvme0c0n1", "mmcblk0p2", "loop0", "ram0",
                           "zram0", "dm-0", "md127", "sr0", "fd0", "", "sd", "nvme", "nvmen1"}) {
    EXPECT_FALSE(is_whole_disk(name)) << name;
  }
}

TEST(Disks, AreInBytesAndSeconds) {
  std::vector<Disk> disks;
  parse_disks(
      "   7       0 loop0 9 9 9 9 9 9 9 9 9 9 9\n"
      " 259       0 nvme0n1 100 5 2000 300 50 6 1000 200 3 4500 500 0 0 0 0 7 8\n"
      " 259       1 nvme0n1p1 100 5 2000 300 50 6 1000 200 3 4500 500\n"
      "   8       0 sda 1 2 3\n",
      disks);
  ASSERT_EQ(disks.size(), 1u);
  EXPECT_EQ(disks[0].name, "nvme0n1");
  EXPECT_EQ(disks[0].read_bytes, 1024000u);
  EXPECT_EQ(disks[0].written_bytes, 512000u);
  EXPECT_EQ(disks[0].reads, 100u);
  EXPECT_EQ(disks[0].writes, 50u);
  EXPECT_EQ(disks[0].wait_seconds, 0.5);
  EXPECT_EQ(disks[0].busy_seconds, 4.5);
}

TEST(Interfaces, LeaveOutLoopbackAndContainers) {
  std::vector<Interface> interfaces;
  parse_interfaces(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes ...\n"
      "    lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
      "  eth0:1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0\n"
      "veth1a2b: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
      "eni0123abcd: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
      "cilium_host: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
      " docker0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
      "  ib0: 5 6 7\n"
      "eth0:1: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n",
      interfaces);
  ASSERT_EQ(interfaces.size(), 2u);
  EXPECT_EQ(interfaces[0].name, "eth0");
  EXPECT_EQ(interfaces[0].received_bytes, 1000u);
  EXPECT_EQ(interfaces[0].received_errors, 1u);
  EXPECT_EQ(interfaces[0].received_drops, 2u);
  EXPECT_EQ(interfaces[0].sent_bytes, 2000u);
  EXPECT_EQ(interfaces[0].sent_errors, 3u);
  EXPECT_EQ(interfaces[0].sent_drops, 4u);
  EXPECT_EQ(interfaces[1].name, "eth0:1");
}

TEST(Infiniband, CountsInBytesAndReadsWhatThereIs) {
  const FakeRoot fake;
  const std::string port = "/sys/class/infiniband/mlx5_0/ports/1";
  fake.write(port + "/counters/port_rcv_data", "250\n");
  fake.write(port + "/counters/port_xmit_data", "500\n");
  fake.write(port + "/counters/link_downed", "2\n");
  fake.write(port + "/counters/link_error_recovery", "3\n");
  fake.write(port + "/state", "4: ACTIVE\n");
  fake.write(port + "/rate", "400 Gb/sec (4X NDR)\n");
  ASSERT_EQ(list_infiniband(fake.root()), std::vector<std::string>{"mlx5_0/1"});
  const InfinibandPort read = read_infiniband(fake.root(), "mlx5_0/1");
  EXPECT_EQ(read.received_bytes, 1000u);
  EXPECT_EQ(read.sent_bytes, 2000u);
  EXPECT_EQ(read.link_downs, 2u);
  EXPECT_EQ(read.link_recoveries, 3u);
  EXPECT_EQ(read.state, 4u);
  EXPECT_EQ(read.rate_bytes_per_second, 5e10);
  EXPECT_FALSE(read.symbol_errors.has_value());
  EXPECT_TRUE(list_infiniband(Root("/nowhere")).empty());
}

TEST(Infiniband, ReadsStateAndRateOnlyInTheirForms) {
  EXPECT_EQ(parse_port_state("1: DOWN"), 1u);
  EXPECT_FALSE(parse_port_state("9: ODD").has_value());
  EXPECT_FALSE(parse_port_state("ACTIVE").has_value());
  EXPECT_EQ(parse_port_rate("2.5 Gb/sec (1X SDR)"), 3.125e8);
  EXPECT_FALSE(parse_port_rate("fast").has_value());
}

void add_pci(const FakeRoot& fake, const std::string& address, const char* vendor,
             const char* device_class) {
  const std::string folder = "/sys/bus/pci/devices/" + address;
  fake.write(folder + "/vendor", std::string(vendor) + "\n");
  fake.write(folder + "/class", std::string(device_class) + "\n");
  fake.write(folder + "/device", "0x2335\n");
}

TEST(Pci, ListsGpusInBusOrder) {
  const FakeRoot fake;
  add_pci(fake, "0000:9b:00.0", "0x10de", "0x030200");
  add_pci(fake, "0000:1b:00.0", "0x10de", "0x030000");
  add_pci(fake, "0000:1b:00.1", "0x10de", "0x040300");  // its audio function
  add_pci(fake, "0000:c1:00.0", "0x10de", "0x068000");  // an NVSwitch
  add_pci(fake, "0000:02:00.0", "0x1002", "0x030000");  // another maker's
  fake.write("/sys/bus/pci/devices/0000:1b:00.0/numa_node", "1\n");
  fake.write("/sys/bus/pci/devices/0000:9b:00.0/numa_node", "-1\n");
  fake.write("/sys/bus/pci/devices/0000:9b:00.0/power/runtime_status", "suspended\n");
  fake.link("/sys/bus/pci/devices/0000:1b:00.0/driver", "../../../../bus/pci/drivers/nvidia");
  fake.link("/sys/bus/pci/devices/0000:9b:00.0/driver", "../../../../bus/pci/drivers/vfio-pci");

  const auto gpus = list_gpus(fake.root());
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].address, "0000:1b:00.0");
  EXPECT_EQ(gpus[0].device_id, 0x2335);
  EXPECT_EQ(gpus[0].numa_node, 1);
  EXPECT_EQ(gpus[0].power, PowerState::kUnknown);
  EXPECT_TRUE(gpus[0].has_driver);
  EXPECT_EQ(gpus[1].address, "0000:9b:00.0");
  EXPECT_FALSE(gpus[1].numa_node.has_value());
  EXPECT_EQ(gpus[1].power, PowerState::kSuspended);
  EXPECT_FALSE(gpus[1].has_driver);
}

TEST(Pci, KnowsAnAddressInAllItsSpellings) {
  for (const char* text : {"0000:06:00.0", "00000000:06:00.0", "0000:06:00", "06:00.0", "6:0"}) {
    EXPECT_EQ(normalize_address(text), "0000:06:00.0") << text;
  }
  EXPECT_EQ(normalize_address("0001:0A:00.0"), "0001:0a:00.0");
  EXPECT_EQ(normalize_address("10000:e1:00.0"), "10000:e1:00.0");
  for (const char* text : {"", ":", "06", "0000:06:00.9", "0000:106:00.0", "a:b:c:d",
                           "0000:06:20.0", "0000:0g:00.0", "::"}) {
    EXPECT_FALSE(normalize_address(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace everywatt::host
