// SPDX-License-Identifier: Apache-2.0
#include "device/host/cgroup.h"

#include <algorithm>

#include "base/text.h"
#include "device/host/lines.h"
#include "device/host/process_status.h"

namespace everywatt::host {
namespace {

constexpr std::string_view kMount = "/sys/fs/cgroup";
// Where version 2 lies in the mixed layout, with the controllers that version 1 does not have.
constexpr std::string_view kMixedMount = "/sys/fs/cgroup/unified";
// What version 1 shows as "no limit" is the largest page-aligned i64.
constexpr std::uint64_t kNoLimitBytes = 1ull << 62;
constexpr std::size_t kFileBytes = 16384;

bool leaves_mount(std::string_view path) {
  for (const std::string_view part : base::split(path, '/')) {
    if (part == "..") return true;
  }
  return false;
}

// One control group's folder, and the way up from it.
class Folder {
 public:
  Folder(const Root& root, std::string mount, std::string_view path)
      : root_(root), mount_(std::move(mount)), path_(path) {
    while (path_.ends_with('/'))
      path_.pop_back();
  }

  std::optional<std::string> text(std::string_view file) const {
    auto content = root_.read(mount_ + path_ + "/" + std::string(file), kFileBytes);
    if (!content) {
      failure_ = content.error().code;
      return std::nullopt;
    }
    return std::move(*content);
  }

  std::optional<std::uint64_t> number(std::string_view file) const {
    const auto content = text(file);
    return content ? base::parse_u64(base::trim(*content)) : std::nullopt;
  }

  bool go_up() {
    if (path_.empty()) return false;
    path_.resize(path_.rfind('/'));
    return true;
  }

  std::optional<base::Code> failure() const { return failure_; }

 private:
  const Root& root_;
  std::string mount_;
  std::string path_;
  mutable std::optional<base::Code> failure_;
};

// "" is version 2's line, which names none.
bool has_controller(const CgroupLine& line, std::string_view controller) {
  std::string_view rest = line.controllers;
  do {
    if (take_until(rest, ',') == controller) return true;
  } while (!rest.empty());
  return false;
}

std::optional<std::string> controller_path(const std::vector<CgroupLine>& lines,
                                           std::string_view controller) {
  for (const CgroupLine& line : lines) {
    if (has_controller(line, controller)) return std::string(line.path);
  }
  return std::nullopt;
}

void read_cpu_2(Folder folder, CgroupLimits& limits) {
  const auto read_times = [&](std::string_view cpu_stat) {
    const auto throttled = find_number(cpu_stat, "throttled_usec");
    if (throttled) limits.throttled_seconds = static_cast<double>(*throttled) * 1e-6;
  };
  if (const auto cpu_stat = folder.text("cpu.stat")) {
    const auto used = find_number(*cpu_stat, "usage_usec");
    if (used) limits.cpu_seconds = static_cast<double>(*used) * 1e-6;
    read_times(*cpu_stat);
  } else {
    limits.failure = folder.failure();
  }
  do {
    const auto cpu_max = folder.text("cpu.max");
    const auto cores = cpu_max ? parse_cpu_max(*cpu_max) : std::nullopt;
    if (!cores || (limits.cpu_quota_cores && *limits.cpu_quota_cores <= *cores)) continue;
    limits.cpu_quota_cores = cores;
    if (const auto cpu_stat = folder.text("cpu.stat")) read_times(*cpu_stat);
  } while (folder.go_up());
}

void read_memory_2(Folder folder, CgroupLimits& limits) {
  limits.memory_bytes = folder.number("memory.current");
  if (const auto events = folder.text("memory.events")) {
    limits.memory_limit_events = find_number(*events, "max");
    limits.out_of_memory_kills = find_number(*events, "oom_kill");
  }
  do {
    const auto limit = folder.number("memory.max");  // "max" is not a number
    if (limit && limit < limits.memory_limit_bytes.value_or(kNoLimitBytes)) {
      limits.memory_limit_bytes = limit;
    }
  } while (folder.go_up());
}

void read_cpu_1(Folder folder, CgroupLimits& limits) {
  const auto read_times = [&] {
    const auto cpu_stat = folder.text("cpu.stat");
    const auto throttled = cpu_stat ? find_number(*cpu_stat, "throttled_time") : std::nullopt;
    if (throttled) limits.throttled_seconds = static_cast<double>(*throttled) * 1e-9;
  };
  read_times();
  do {
    const auto quota = folder.number("cpu.cfs_quota_us");  // -1: none
    const auto period = folder.number("cpu.cfs_period_us");
    if (!quota || !period || *period == 0) continue;
    const double cores = static_cast<double>(*quota) / static_cast<double>(*period);
    if (limits.cpu_quota_cores && *limits.cpu_quota_cores <= cores) continue;
    limits.cpu_quota_cores = cores;
    read_times();
  } while (folder.go_up());
}

void read_memory_1(Folder folder, CgroupLimits& limits) {
  limits.memory_bytes = folder.number("memory.usage_in_bytes");
  limits.memory_limit_events = folder.number("memory.failcnt");
  if (const auto control = folder.text("memory.oom_control")) {
    limits.out_of_memory_kills = find_number(*control, "oom_kill");
  }
  do {
    const auto limit = folder.number("memory.limit_in_bytes");
    if (limit && limit < limits.memory_limit_bytes.value_or(kNoLimitBytes)) {
      limits.memory_limit_bytes = limit;
    }
  } while (folder.go_up());
}

void read_cpus(Folder folder, std::string_view file, CgroupLimits& limits) {
  do {
    const auto cpus = folder.text(file);
    if (cpus) limits.allowed_cpus = count_cpus(*cpus);
  } while (!limits.allowed_cpus && folder.go_up());
}

}  // namespace

std::vector<CgroupLine> parse_cgroup_lines(std::string_view proc_cgroup) {
  std::vector<CgroupLine> lines;
  while (!proc_cgroup.empty()) {
    std::string_view line = take_until(proc_cgroup, '\n');
    if (!base::parse_u64(take_until(line, ':'))) continue;
    const std::string_view controllers = take_until(line, ':');
    // What the kernel adds where the group was removed under a process.
    if (line.ends_with(" (deleted)")) line.remove_suffix(10);
    if (line.starts_with('/')) lines.push_back({.controllers = controllers, .path = line});
  }
  return lines;
}

std::string_view main_path(const std::vector<CgroupLine>& lines) {
  for (const std::string_view wanted : {"", "memory", "cpu", "name=systemd"}) {
    for (const CgroupLine& line : lines) {
      if (line.path != "/" && has_controller(line, wanted)) return line.path;
    }
  }
  return "/";
}

std::optional<double> parse_cpu_max(std::string_view cpu_max) {
  const auto quota = take_u64(cpu_max);
  const auto period = take_u64(cpu_max);
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

CgroupLimits read_cgroup_limits(const Root& root, std::string_view proc_cgroup) {
  CgroupLimits limits;
  const std::vector<CgroupLine> lines = parse_cgroup_lines(proc_cgroup);
  const bool is_outside =
      std::ranges::any_of(lines, [](const CgroupLine& line) { return leaves_mount(line.path); });
  if (lines.empty() || is_outside) {
    limits.failure = base::Code::kNotFound;
    return limits;
  }
  const std::string mount(kMount);
  const std::string path = controller_path(lines, "").value_or("/");
  const bool is_mixed = root.read(std::string(kMixedMount) + "/cgroup.controllers").has_value();
  const std::string unified(is_mixed ? kMixedMount : kMount);
  if (const auto cpu = controller_path(lines, "cpu")) {
    read_cpu_1(Folder(root, mount + "/cpu", *cpu), limits);
    if (const auto account = controller_path(lines, "cpuacct")) {
      const auto used = Folder(root, mount + "/cpuacct", *account).number("cpuacct.usage");
      if (used) limits.cpu_seconds = static_cast<double>(*used) * 1e-9;
    }
  } else {
    read_cpu_2(Folder(root, unified, path), limits);
  }
  if (const auto memory = controller_path(lines, "memory")) {
    read_memory_1(Folder(root, mount + "/memory", *memory), limits);
  } else {
    read_memory_2(Folder(root, unified, path), limits);
  }
  if (const auto cpuset = controller_path(lines, "cpuset")) {
    read_cpus(Folder(root, mount + "/cpuset", *cpuset), "cpuset.effective_cpus", limits);
  } else {
    read_cpus(Folder(root, unified, path), "cpuset.cpus.effective", limits);
  }
  return limits;
}

}  // namespace everywatt::host
