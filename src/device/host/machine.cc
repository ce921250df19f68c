// SPDX-License-Identifier: Apache-2.0
#include "device/host/machine.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "device/host/clock_ticks.h"
#include "device/host/lines.h"

namespace everywatt::host {

base::Result<CpuTime> parse_cpu_time(std::string_view proc_stat) {
  CpuTime time;
  auto total = find_line(proc_stat, "cpu");
  if (!total) return base::fail(base::Code::kCorrupt, "/proc/stat: no line 'cpu'");
  // Guests' time, which follows, is part of user and nice. Old kernels end earlier.
  const std::array<double*, 8> columns = {
      &time.user_seconds,   &time.nice_seconds, &time.system_seconds,  &time.idle_seconds,
      &time.iowait_seconds, &time.irq_seconds,  &time.softirq_seconds, &time.steal_seconds};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto ticks = take_u64(*total);
    if (!ticks && i < 4) return base::fail(base::Code::kCorrupt, "/proc/stat: short line 'cpu'");
    *columns[i] = ticks_to_seconds(ticks.value_or(0));
  }
  std::string_view rest = proc_stat;
  while (!rest.empty()) {
    const std::string_view line = take_until(rest, '\n');
    if (line.size() > 3 && line.starts_with("cpu") && line[3] >= '0' && line[3] <= '9') {
      ++time.cpus;
    } else if (line.starts_with("processes ")) {
      time.forks = base::parse_u64(base::trim(line.substr(10))).value_or(0);
      break;
    }
  }
  return time;
}

base::Result<Memory> parse_memory(std::string_view meminfo) {
  Memory memory;
  const auto bytes = [&](std::string_view key) {
    return scaled(find_number(meminfo, key), 1024).value_or(0);
  };
  memory.total_bytes = bytes("MemTotal:");
  if (memory.total_bytes == 0)
    return base::fail(base::Code::kCorrupt, "/proc/meminfo: no MemTotal");
  memory.free_bytes = bytes("MemFree:");
  memory.cached_bytes = bytes("Cached:");
  memory.shared_bytes = bytes("Shmem:");
  memory.swap_total_bytes = bytes("SwapTotal:");
  memory.swap_free_bytes = bytes("SwapFree:");
  // Before Linux 3.14 there is no MemAvailable; free and cached is what people used until then.
  memory.available_bytes = find_line(meminfo, "MemAvailable:")
                               ? bytes("MemAvailable:")
                               : memory.free_bytes + memory.cached_bytes;
  return memory;
}

base::Result<Load> parse_load(std::string_view loadavg) {
  const auto one = base::parse_f64(take_word(loadavg));
  const auto five = base::parse_f64(take_word(loadavg));
  const auto fifteen = base::parse_f64(take_word(loadavg));
  if (!one || !five || !fifteen) {
    return base::fail(base::Code::kCorrupt, "/proc/loadavg: not three numbers");
  }
  return Load{.minutes_1 = *one, .minutes_5 = *five, .minutes_15 = *fifteen};
}

base::Result<Pressure> parse_pressure(std::string_view pressure) {
  const auto seconds = [&](std::string_view key) -> std::optional<double> {
    const auto line = find_line(pressure, key);
    if (!line) return std::nullopt;
    const auto at = line->find("total=");
    if (at == std::string_view::npos) return std::nullopt;
    const auto microseconds = base::parse_u64(line->substr(at + 6));
    if (!microseconds) return std::nullopt;
    return static_cast<double>(*microseconds) * 1e-6;
  };
  const auto some = seconds("some");
  if (!some) return base::fail(base::Code::kCorrupt, "/proc/pressure: no total");
  return Pressure{.some_seconds = *some, .full_seconds = seconds("full")};
}

base::Result<double> parse_uptime(std::string_view uptime) {
  const auto seconds = base::parse_f64(take_word(uptime));
  if (!seconds || *seconds < 0) return base::fail(base::Code::kCorrupt, "/proc/uptime: no number");
  return *seconds;
}

base::Result<std::string_view> parse_boot_id(std::string_view boot_id) {
  boot_id = base::trim(boot_id);
  const auto is_hex = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
  };
  if (boot_id.size() != 36 || !std::ranges::all_of(boot_id, is_hex)) {
    return base::fail(base::Code::kCorrupt, "boot_id: not a UUID");
  }
  return boot_id;
}

}  // namespace everywatt::host
