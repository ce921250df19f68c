// SPDX-License-Identifier: Apache-2.0
#include "device/host/cgroup.h"

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/fuzz_target.h"
#include "device/host/fake_root.h"

namespace everywatt::host {
namespace {

// Files of a group and of the one above it, in both versions.
constexpr std::array<std::string_view, 16> kFiles = {
    "/sys/fs/cgroup/a/b/cpu.max",
    "/sys/fs/cgroup/a/b/cpu.stat",
    "/sys/fs/cgroup/a/b/memory.max",
    "/sys/fs/cgroup/a/b/memory.current",
    "/sys/fs/cgroup/a/b/memory.events",
    "/sys/fs/cgroup/a/cpu.max",
    "/sys/fs/cgroup/a/cpuset.cpus.effective",
    "/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us",
    "/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us",
    "/sys/fs/cgroup/cpu/a/b/cpu.stat",
    "/sys/fs/cgroup/cpuacct/a/b/cpuacct.usage",
    "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
    "/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes",
    "/sys/fs/cgroup/memory/a/b/memory.oom_control",
    "/sys/fs/cgroup/memory/a/b/memory.failcnt",
    "/sys/fs/cgroup/cpuset/a/cpuset.effective_cpus",
};
constexpr std::string_view kVersion2 = "0::/a/b\n";
constexpr std::string_view kVersion1 = "3:cpu:/a/b\n4:cpuacct:/a/b\n5:memory:/a/b\n6:cpuset:/a/b\n";

bool is_amount(std::optional<double> value) {
  return !value || (std::isfinite(*value) && *value >= 0);
}

void judge(const Root& root, std::string_view proc_cgroup) {
  const CgroupLimits limits = read_cgroup_limits(root, proc_cgroup);
  CHECK(is_amount(limits.cpu_quota_cores));
  CHECK(is_amount(limits.cpu_seconds));
  CHECK(is_amount(limits.throttled_seconds));
}

}  // namespace

// The first part is /proc/PID/cgroup, the others are files of a group, in order.
FUZZ_TARGET(cgroup) {
  static const FakeRoot folder;
  base::FuzzInput input(bytes);
  const std::string_view proc_cgroup = input.part();
  const auto lines = parse_cgroup_lines(proc_cgroup);
  for (const CgroupLine& line : lines)
    CHECK(line.path.starts_with('/'));
  CHECK(main_path(lines).starts_with('/'));
  CHECK(is_amount(parse_cpu_max(proc_cgroup)));
  for (const std::string_view file : kFiles) {
    if (input.is_empty()) {
      folder.remove(file);
    } else {
      folder.write(file, input.part());
    }
  }
  judge(folder.root(), proc_cgroup);
  judge(folder.root(), kVersion2);
  judge(folder.root(), kVersion1);
}

}  // namespace everywatt::host
