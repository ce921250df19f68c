// SPDX-License-Identifier: Apache-2.0
#include "device/host/process_status.h"

#include "base/text.h"
#include "device/host/lines.h"

namespace everywatt::host {

base::Result<ProcessStatus> parse_process_status(std::string_view text) {
  // The first line is the name, which the kernel escapes: no line of it can be forged.
  ProcessStatus status;
  auto users = find_line(text, "Uid:");
  if (!users) return base::fail(base::Code::kCorrupt, "/proc/PID/status: no Uid");
  take_word(*users);  // the real one
  const auto effective = take_u64(*users);
  if (!effective) return base::fail(base::Code::kCorrupt, "/proc/PID/status: no Uid");
  status.user_id = static_cast<std::uint32_t>(*effective);
  if (auto pids = find_line(text, "NSpid:")) {
    std::optional<std::uint64_t> last;
    unsigned count = 0;
    while (const auto pid = take_u64(*pids)) {
      last = pid;
      ++count;
    }
    if (count > 1) status.pid_in_container = static_cast<std::uint32_t>(*last);
  }
  status.resident_bytes = scaled(find_number(text, "VmRSS:"), 1024);
  status.peak_bytes = scaled(find_number(text, "VmHWM:"), 1024);
  status.threads = static_cast<std::uint32_t>(find_number(text, "Threads:").value_or(0));
  status.allowed_cpus = find_line(text, "Cpus_allowed_list:").value_or("");
  return status;
}

std::optional<unsigned> count_cpus(std::string_view cpu_list) {
  constexpr std::uint64_t kMostCpus = 65536;
  std::uint64_t count = 0;
  cpu_list = base::trim(cpu_list);
  if (cpu_list.empty()) return std::nullopt;
  while (!cpu_list.empty()) {
    std::string_view part = take_until(cpu_list, ',');
    const auto first = base::parse_u64(take_until(part, '-'));
    const auto last = part.empty() ? first : base::parse_u64(part);
    if (!first || !last || *last < *first || *last >= kMostCpus) return std::nullopt;
    count += *last - *first + 1;
    if (count > kMostCpus) return std::nullopt;
  }
  return static_cast<unsigned>(count);
}

}  // namespace everywatt::host
