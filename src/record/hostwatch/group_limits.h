// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "device/host/cgroup.h"
#include "device/host/root.h"

namespace everywatt::hostwatch {

// The limits of control groups in one tick: the processes of a job mostly share a group, which is
// read once for all of them.
class GroupLimits {
 public:
  explicit GroupLimits(const host::Root& root) : root_(root) {}

  void begin_tick() { limits_.clear(); }

  // By the text of /proc/PID/cgroup. Valid until the next begin_tick().
  const host::CgroupLimits& read(std::string_view proc_cgroup) {
    const auto known = limits_.find(proc_cgroup);
    if (known != limits_.end()) return known->second;
    return limits_.emplace(std::string(proc_cgroup), host::read_cgroup_limits(root_, proc_cgroup))
        .first->second;
  }

 private:
  host::Root root_;
  std::map<std::string, host::CgroupLimits, std::less<>> limits_;
};

}  // namespace everywatt::hostwatch
