// SPDX-License-Identifier: Apache-2.0
#include "device/host/kernel_fault.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "device/host/lines.h"
#include "device/host/pci.h"

namespace everywatt::host {
namespace {

constexpr std::size_t kNameBytes = 15;  // the kernel's own limit

// Cuts `prefix` off `rest`, if it begins so.
bool take_prefix(std::string_view& rest, std::string_view prefix) {
  if (!rest.starts_with(prefix)) return false;
  rest.remove_prefix(prefix.size());
  return true;
}

std::optional<std::uint32_t> take_number(std::string_view& rest) {
  const auto end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto number = base::parse_u64(rest.substr(0, end));
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  rest.remove_prefix(end);
  return static_cast<std::uint32_t>(*number);
}

// The address at the start of `rest`, which goes on to a blank, a bracket or a colon and a blank.
// NVRM leaves the function out: the whole GPU is function 0.
std::string take_address(std::string_view& rest) {
  take_prefix(rest, "PCI:");
  const auto end = std::min(rest.find_first_not_of("0123456789abcdefABCDEF:."), rest.size());
  std::string_view word = rest.substr(0, end);
  while (word.ends_with(':'))
    word.remove_suffix(1);
  rest.remove_prefix(end);
  if (word.find(':') == std::string_view::npos) return {};
  return normalize_address(base::to_lower(word)).value_or("");
}

// "pid=1142, name=python, ..." and "pid='<unknown>', name=<unknown>, ...".
void read_process(std::string_view rest, KernelFault& fault) {
  const auto pid_at = rest.find("pid=");
  if (pid_at == std::string_view::npos) return;
  rest.remove_prefix(pid_at + 4);
  fault.pid = take_number(rest);
  if (!fault.pid) return;
  if (fault.pid == 0u) fault.pid.reset();
  if (!take_prefix(rest, ", name=")) return;
  // The process chose the name, a comma in it is possible; what follows it is only shown.
  const std::string_view name = rest.substr(0, rest.find(", "));
  fault.process = base::clean_text(name, kNameBytes);
}

// "(PCI:0000:3b:00): 79, pid=..." and "(PCI:0000:3b:00 GPU-I:05): 45, ..."
std::optional<KernelFault> parse_xid(std::string_view rest, KernelFault::Kind kind) {
  KernelFault fault;
  fault.kind = kind;
  if (!take_prefix(rest, "(")) return std::nullopt;
  fault.pci_address = take_address(rest);
  const auto close = rest.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(close + 3);
  const auto code = take_number(rest);
  if (!code) return std::nullopt;
  fault.code = *code;
  read_process(rest, fault);
  return fault;
}

// "GPU 0000:65:00.0: GPU has fallen off the bus." and "GPU at 0000:65:00.0 has fallen off the bus."
std::optional<KernelFault> parse_off_bus(std::string_view rest) {
  const std::string lower = base::to_lower(rest);
  if (lower.find("fallen off the bus") == std::string::npos) return std::nullopt;
  KernelFault fault;
  fault.kind = KernelFault::Kind::kOffBus;
  // "The NVIDIA GPU 0000:65:00.0 (PCI ID: ...) ... has fallen off the bus and is not responding"
  while (!rest.empty() && fault.pci_address.empty()) {
    std::string_view word = take_word(rest);
    take_prefix(word, "(");
    fault.pci_address = take_address(word);
  }
  return fault;
}

std::optional<KernelFault> parse_link(std::string_view rest) {
  const std::string lower = base::to_lower(rest);
  if (lower.find("nvlink") == std::string::npos) return std::nullopt;
  const bool is_trouble = std::ranges::any_of(
      std::initializer_list<std::string_view>{"error", "fail", "fatal", "timed out", "link down"},
      [&](std::string_view word) { return lower.find(word) != std::string::npos; });
  if (!is_trouble) return std::nullopt;
  KernelFault fault;
  fault.kind = KernelFault::Kind::kLink;
  while (!rest.empty() && fault.pci_address.empty()) {
    std::string_view word = take_word(rest);
    take_prefix(word, "(");
    fault.pci_address = take_address(word);
  }
  return fault;
}

// "Out of memory: Killed process 1142 (python) total-vm:..., ..."; with "Memory cgroup " before it.
std::optional<KernelFault> parse_out_of_memory(std::string_view rest) {
  take_prefix(rest, "Memory cgroup out of memory: ") || take_prefix(rest, "Out of memory: ") ||
      take_prefix(rest, "Out of memory (oom_kill_allocating_task): ");
  if (!take_prefix(rest, "Killed process ") && !take_prefix(rest, "Kill process ")) {
    return std::nullopt;
  }
  KernelFault fault;
  fault.kind = KernelFault::Kind::kOutOfMemory;
  fault.pid = take_number(rest);
  if (!fault.pid) return std::nullopt;
  if (!take_prefix(rest, " (")) return fault;
  // What follows a name has no bracket before "total-vm" or "score".
  auto close = rest.find(") total-vm:");
  if (close == std::string_view::npos) close = rest.find(')');
  fault.process = base::clean_text(rest.substr(0, close), kNameBytes);
  return fault;
}

}  // namespace

std::optional<KernelFault> parse_kernel_fault(std::string_view text) {
  std::string_view rest = text;
  if (take_prefix(rest, "NVRM: ")) {
    if (take_prefix(rest, "Xid ")) return parse_xid(rest, KernelFault::Kind::kXid);
    if (auto fault = parse_off_bus(rest)) return fault;
    return parse_link(rest);
  }
  if (rest.starts_with("nvidia-nvswitch")) {
    const auto at = rest.find(": SXid ");
    if (at == std::string_view::npos) return std::nullopt;
    return parse_xid(rest.substr(at + 7), KernelFault::Kind::kSwitchXid);
  }
  if (rest.starts_with("nvidia-nvlink")) return parse_link(rest);
  // "pcieport ...: nvidia 0000:65:00.0: ..." is AER's and says nothing that a GPU's rows do not.
  return parse_out_of_memory(rest);
}

}  // namespace everywatt::host
