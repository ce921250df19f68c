// SPDX-License-Identifier: Apache-2.0
//
// The files of the fake host root that speak of the whole machine.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

#include "device/sim/host_image.h"

namespace everywatt::sim {
namespace {

constexpr double kTicksPerSecond = 100;
constexpr std::uint64_t kMemoryKbPerJob = 192ull << 20;
constexpr std::uint64_t kKernelKb = 8ull << 20;
constexpr std::uint64_t kSectorBytes = 512;
// Network traffic was not recorded: a little, evenly.
constexpr std::uint64_t kBytesPerSecond = 2'000;

// A millionth of a tick is added: laps are summed in floating point, and what was a whole tick must
// not fall below.
std::uint64_t ticks(double seconds) {
  return static_cast<std::uint64_t>(std::floor(std::max(0.0, seconds) * kTicksPerSecond + 1e-6));
}

struct CpuTimes {
  double user = 0, system = 0, idle = 0, iowait = 0;
};

CpuTimes cpu_times(const PlayedJob& job, std::int64_t played_ns, double idle_before) {
  const Position here = position(job.loop, played_ns);
  return {.user = HostTrace::over_laps(job.host.user, job.loop, here),
          .system = HostTrace::over_laps(job.host.system, job.loop, here),
          .idle = idle_before + HostTrace::over_laps(job.host.idle, job.loop, here),
          .iowait = HostTrace::over_laps(job.host.iowait, job.loop, here)};
}

std::string cpu_line(const std::string& name, const CpuTimes& times, double share) {
  return fmt::format("{} {} 0 {} {} {} 0 0 0 0 0\n", name, ticks(times.user * share),
                     ticks(times.system * share), ticks(times.idle * share),
                     ticks(times.iowait * share));
}

std::string proc_stat(const std::vector<PlayedJob>& jobs, std::int64_t played_ns,
                      const BootTimes& boot) {
  CpuTimes all;
  std::string lines;
  unsigned cpu = 0;
  unsigned running = 0;
  for (const PlayedJob& job : jobs) {
    // Before the play the machine was idle.
    const double idle_before = static_cast<double>(boot.uptime_ns) / 1e9 * job.host.cpus;
    const CpuTimes times = cpu_times(job, played_ns, idle_before);
    all.user += times.user;
    all.system += times.system;
    all.idle += times.idle;
    all.iowait += times.iowait;
    for (unsigned i = 0; i < job.host.cpus; ++i) {
      lines += cpu_line("cpu" + std::to_string(cpu++), times, 1.0 / job.host.cpus);
    }
    running += job.host.state.at(position(job.loop, played_ns).trace_ns) == 'R' ? 1 : 0;
  }
  return cpu_line("cpu ", all, 1) + lines +
         fmt::format(
             "intr 0\nctxt 0\nbtime {}\nprocesses 40000\nprocs_running {}\n"
             "procs_blocked 0\nsoftirq 0\n",
             (boot.wall_ns - boot.uptime_ns) / 1'000'000'000, running + 1);
}

std::string meminfo(const std::vector<PlayedJob>& jobs, std::int64_t played_ns) {
  const std::uint64_t total = kMemoryKbPerJob * jobs.size();
  std::uint64_t used = kKernelKb;
  for (const PlayedJob& job : jobs) {
    const std::int64_t trace_ns = position(job.loop, played_ns).trace_ns;
    if (trace_ns < job.host.end_ns)
      used += static_cast<std::uint64_t>(job.host.rss_kb.at(trace_ns));
  }
  const std::uint64_t available = total - std::min(used, total);
  return fmt::format(
      "MemTotal:       {} kB\nMemFree:        {} kB\nMemAvailable:   {} kB\nBuffers:        0 kB\n"
      "Cached:         0 kB\nSwapTotal:      0 kB\nSwapFree:       0 kB\nShmem:          0 kB\n",
      total, available, available);
}

// The share of CPUs in use over the last seconds, as a number of tasks.
double load(const std::vector<PlayedJob>& jobs, std::int64_t played_ns, std::int64_t window_ns) {
  double busy = 0;
  for (const PlayedJob& job : jobs) {
    const CpuTimes now = cpu_times(job, played_ns, 0);
    const CpuTimes before = cpu_times(job, played_ns - window_ns, 0);
    busy += now.user + now.system - before.user - before.system;
  }
  return std::max(0.0, busy / (static_cast<double>(window_ns) / 1e9));
}

constexpr std::int64_t kMinute = 60'000'000'000;

std::string loadavg(const std::vector<PlayedJob>& jobs, std::int64_t played_ns) {
  return fmt::format("{:.2f} {:.2f} {:.2f} 2/900 40000\n", load(jobs, played_ns, kMinute),
                     load(jobs, played_ns, 5 * kMinute), load(jobs, played_ns, 15 * kMinute));
}

// Stall time of the machine: the mean over the jobs.
double stalled(const std::vector<PlayedJob>& jobs, Ramp HostTrace::* stall,
               std::int64_t played_ns) {
  double seconds = 0;
  for (const PlayedJob& job : jobs) {
    seconds += HostTrace::over_laps(job.host.*stall, job.loop, position(job.loop, played_ns));
  }
  return seconds / static_cast<double>(std::max<std::size_t>(1, jobs.size()));
}

std::string pressure_line(const std::string& name, const std::vector<PlayedJob>& jobs,
                          Ramp HostTrace::* stall, std::int64_t played_ns, double share) {
  std::string line = name;
  const double total = stalled(jobs, stall, played_ns);
  for (const std::int64_t seconds : {10, 60, 300}) {
    const double before = stalled(jobs, stall, played_ns - seconds * 1'000'000'000);
    line += fmt::format(" avg{}={:.2f}", seconds,
                        (total - before) * share / static_cast<double>(seconds) * 100);
  }
  return line + fmt::format(" total={}\n", static_cast<std::uint64_t>(total * share * 1e6 + 1e-3));
}

void add_pressure(const std::vector<PlayedJob>& jobs, std::int64_t played_ns, HostImage& image) {
  image["proc/pressure/cpu"].content =
      pressure_line("some", jobs, &HostTrace::cpu_stall, played_ns, 1) +
      pressure_line("full", jobs, &HostTrace::cpu_stall, played_ns, 0);
  image["proc/pressure/io"].content =
      pressure_line("some", jobs, &HostTrace::io_stall, played_ns, 1) +
      pressure_line("full", jobs, &HostTrace::io_stall, played_ns, 0.6);
  image["proc/pressure/memory"].content =
      pressure_line("some", jobs, &HostTrace::io_stall, played_ns, 0) +
      pressure_line("full", jobs, &HostTrace::io_stall, played_ns, 0);
}

void add_traffic(const std::vector<PlayedJob>& jobs, std::int64_t played_ns, const BootTimes& boot,
                 HostImage& image) {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  double waited = 0;
  for (const PlayedJob& job : jobs) {
    const Position here = position(job.loop, played_ns);
    read += static_cast<std::uint64_t>(HostTrace::over_laps(job.host.read_bytes, job.loop, here));
    written +=
        static_cast<std::uint64_t>(HostTrace::over_laps(job.host.write_bytes, job.loop, here));
    waited += HostTrace::over_laps(job.host.io_stall, job.loop, here);
  }
  constexpr std::uint64_t kRequestBytes = 128u << 10;
  image["proc/diskstats"].content = fmt::format(
      " 259       0 nvme0n1 {} 0 {} {} {} 0 {} {} 0 {} {} 0 0 0 0 0 0\n", read / kRequestBytes,
      read / kSectorBytes, read / kRequestBytes, written / kRequestBytes, written / kSectorBytes,
      written / kRequestBytes, static_cast<std::uint64_t>(waited * 1000),
      static_cast<std::uint64_t>(waited * 1000));
  const std::uint64_t bytes =
      static_cast<std::uint64_t>((boot.uptime_ns + played_ns) / 1'000'000'000) * kBytesPerSecond;
  image["proc/net/dev"].content = fmt::format(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
      "drop "
      "fifo colls carrier compressed\n"
      "    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n"
      "  eth0: {} {} 0 0 0 0 0 0 {} {} 0 0 0 0 0 0\n",
      bytes, bytes / 500, bytes, bytes / 500);
}

void add_accounts(const std::vector<PlayedJob>& jobs, HostImage& image) {
  std::map<std::uint32_t, std::pair<std::string, std::uint32_t>> users = {{0, {"root", 0}}};
  for (const PlayedJob& job : jobs)
    users.try_emplace(job.owner.uid, job.owner.user, job.owner.gid);
  std::string passwd;
  std::string group;
  for (const auto& [uid, user] : users) {
    const auto& [name, gid] = user;
    passwd += fmt::format("{}:x:{}:{}::{}:/bin/bash\n", name, uid, gid,
                          uid == 0 ? "/root" : "/home/" + name);
    group += fmt::format("{}:x:{}:\n", name, gid);
  }
  image["etc/passwd"].content = passwd;
  image["etc/group"].content = group;
}

}  // namespace

void add_machine(const std::vector<PlayedJob>& jobs, std::int64_t played_ns, const BootTimes& boot,
                 HostImage& image) {
  unsigned cpus = 0;
  for (const PlayedJob& job : jobs)
    cpus += job.host.cpus;
  image["proc/stat"].content = proc_stat(jobs, played_ns, boot);
  image["proc/meminfo"].content = meminfo(jobs, played_ns);
  image["proc/loadavg"].content = loadavg(jobs, played_ns);
  const double uptime = static_cast<double>(boot.uptime_ns + played_ns) / 1e9;
  image["proc/uptime"].content = fmt::format("{:.2f} {:.2f}\n", uptime, uptime * cpus);
  add_pressure(jobs, played_ns, image);
  add_traffic(jobs, played_ns, boot, image);
  add_accounts(jobs, image);
  image["proc/sys/kernel/random/boot_id"].content = "5ee00000-b007-4a77-8000-e0e700000001\n";
  image["proc/sys/kernel/hostname"].content = "demo\n";
  image["proc/sys/kernel/pid_max"].content = "4194304\n";
  image["etc/hostname"].content = "demo\n";
  image["sys/devices/system/cpu/online"].content = fmt::format("0-{}\n", cpus - 1);
  image["sys/fs/cgroup/cgroup.controllers"].content = "cpuset cpu io memory pids\n";
}

}  // namespace everywatt::sim
