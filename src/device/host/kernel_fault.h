// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace everywatt::host {

// What a line of the kernel's log tells about a GPU or about the memory of its processes.
struct KernelFault {
  enum class Kind {
    kXid,          // the driver's numbered error
    kSwitchXid,    // the same of an NVSwitch
    kOffBus,       // the GPU no longer answers on the bus, told without a number
    kLink,         // NVLink trouble, told without a number
    kOutOfMemory,  // the kernel killed a process for want of memory
  };
  Kind kind = Kind::kXid;
  std::string pci_address;  // as PciGpu::address with function 0; "" if the line names none
  std::uint32_t code = 0;   // kXid and kSwitchXid
  std::optional<std::uint32_t> pid;
  std::string process;  // its name as the kernel has it, cleaned; a process chooses it
};

// Nothing for all other lines. The line's own beginning must say who speaks, so that text which a
// program brings into the log does not become a fault.
std::optional<KernelFault> parse_kernel_fault(std::string_view text);

}  // namespace everywatt::host
