// SPDX-License-Identifier: Apache-2.0
#include "device/host/kernel_fault.h"

#include <gtest/gtest.h>

namespace everywatt::host {
namespace {

using Kind = KernelFault::Kind;

struct Case {
  const char* text;
  Kind kind;
  const char* pci_address;
  std::uint32_t code;
  std::optional<std::uint32_t> pid;
  const char* process;
};

TEST(KernelFault, IsReadFromEveryKnownForm) {
  const std::vector<Case> cases = {
      {"NVRM: Xid (PCI:0000:00:06): 31, pid=1142, name=xid, channel 0x0000000a, intr 00000000. MMU "
       "Fault: ENGINE GRAPHICS GPC1",
       Kind::kXid, "0000:00:06.0", 31, 1142, "xid"},
      {"NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
       "bus.",
       Kind::kXid,
       "0000:3b:00.0",
       79,
       {},
       ""},
      {"NVRM: Xid (PCI:0000:3B:00): 48, An uncorrectable double bit error (DBE) has been detected",
       Kind::kXid,
       "0000:3b:00.0",
       48,
       {},
       ""},
      {"NVRM: Xid (0000:03:00): 13, 0003 00000000 000090c0 00001b0c",
       Kind::kXid,
       "0000:03:00.0",
       13,
       {},
       ""},
      {"NVRM: Xid (PCI:0000:65:00 GPU-I:05): 45, pid=77, name=python3, Ch 00000008", Kind::kXid,
       "0000:65:00.0", 45, 77, "python3"},
      {"NVRM: Xid (PCI:0000:65:00): 43, pid=0, name=, Ch 00000010",
       Kind::kXid,
       "0000:65:00.0",
       43,
       {},
       ""},
      {"NVRM: Xid (PCI:0000:65:00): 9999", Kind::kXid, "0000:65:00.0", 9999, {}, ""},
      {"NVRM: Xid (PCI:00000001:65:00.0): 94, pid=5, name=a b(c), x", Kind::kXid, "0001:65:00.0",
       94, 5, "a b(c)"},
      {"NVRM: GPU 0000:65:00.0: GPU has fallen off the bus.",
       Kind::kOffBus,
       "0000:65:00.0",
       0,
       {},
       ""},
      {"NVRM: GPU at 0000:03:00.0 has fallen off the bus.",
       Kind::kOffBus,
       "0000:03:00.0",
       0,
       {},
       ""},
      {"NVRM: The NVIDIA GPU 0000:c1:00.0 (PCI ID: 10de:2330) has fallen off the bus and is not",
       Kind::kOffBus,
       "0000:c1:00.0",
       0,
       {},
       ""},
      {"NVRM: GPU has fallen off the bus.", Kind::kOffBus, "", 0, {}, ""},
      {"nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress",
       Kind::kSwitchXid,
       "0000:c1:00.0",
       12028,
       {},
       ""},
      {"nvidia-nvlink: link training failed on 0000:1b:00.0",
       Kind::kLink,
       "0000:1b:00.0",
       0,
       {},
       ""},
      {"NVRM: knvlinkCoreGetRemoteDeviceInfo: Fatal NVLink error", Kind::kLink, "", 0, {}, ""},
      {"Out of memory: Killed process 1142 (python) total-vm:1kB, anon-rss:2kB", Kind::kOutOfMemory,
       "", 0, 1142, "python"},
      {"Memory cgroup out of memory: Killed process 7 (a) b) total-vm:1kB", Kind::kOutOfMemory, "",
       0, 7, "a) b"},
      {"Out of memory: Kill process 7 (python) score 900 or sacrifice child", Kind::kOutOfMemory,
       "", 0, 7, "python"}};
  for (const Case& one : cases) {
    const auto fault = parse_kernel_fault(one.text);
    ASSERT_TRUE(fault.has_value()) << one.text;
    EXPECT_EQ(fault->kind, one.kind) << one.text;
    EXPECT_EQ(fault->pci_address, one.pci_address) << one.text;
    EXPECT_EQ(fault->code, one.code) << one.text;
    EXPECT_EQ(fault->pid, one.pid) << one.text;
    EXPECT_EQ(fault->process, one.process) << one.text;
  }
}

TEST(KernelFault, IsNotInOtherLines) {
  for (const char* text :
       {"", "NVRM: ", "NVRM: Xid", "NVRM: Xid (", "NVRM: Xid (PCI:0000:00:06)",
        "NVRM: Xid (PCI:0000:00:06): ", "NVRM: Xid (PCI:0000:00:06): x, pid=1",
        "NVRM: Xid (PCI:0000:00:06): 99999999999, pid=1",
        "NVRM: loading NVIDIA UNIX Open Kernel Module  580.159.04",
        "nvidia-nvlink: Nvlink Core is being initialized, major device number 510",
        "nvidia-nvswitch0: open (major=510)", "usb 1-1: new device",
        "audit: NVRM: Xid (PCI:0000:00:06): 79, forged by a program", "Killed process x (python)",
        "Out of memory: Killed process  (python)"}) {
    EXPECT_FALSE(parse_kernel_fault(text).has_value()) << text;
  }
}

TEST(KernelFault, KeepsAPidWhateverTheProcessCallsItself) {
  const auto fault = parse_kernel_fault(
      "NVRM: Xid (PCI:0000:00:06): 31, pid=1142, name=x, pid=1, name=, channel 0x0a");
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->pid, 1142u);
  EXPECT_EQ(fault->process, "x");
}

}  // namespace
}  // namespace everywatt::host
