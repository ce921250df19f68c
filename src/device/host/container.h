// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace everywatt::host {

// Who a process runs for, as far as the path of its control group tells. What the path does not
// tell is empty; never a guess.
struct Container {
  std::string runtime = {};       // docker, containerd, cri-o, podman, lxc, nspawn, slurm; or empty
  std::string container_id = {};  // 64 hexadecimal digits, or the name in lxc and nspawn
  std::string pod_uid = {};       // Kubernetes: with dashes
  std::string slurm_job = {};     // its number
  std::string slurm_step = {};    // "0", "batch", "extern", "interactive"
  std::string slurm_sluid = {};   // Slurm 26.05 names jobs "s5K1..." there; the number is elsewhere

  friend bool operator==(const Container&, const Container&) = default;
};

// From one path below a control group's root ("/system.slice/docker-<id>.scope").
Container parse_container(std::string_view cgroup_path);

// The systemd unit that a path lies in, the innermost: "train.service", "session-4.scope"; or "".
std::string find_unit(std::string_view cgroup_path);

// From the whole of /proc/PID/cgroup: version 2's line, then version 1's, until one tells
// something.
Container parse_container_of_process(std::string_view proc_cgroup);

}  // namespace everywatt::host
