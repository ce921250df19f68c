// SPDX-License-Identifier: Apache-2.0
#include "device/host/container.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "device/host/cgroup.h"

namespace everywatt::host {
namespace {

constexpr std::size_t kIdLength = 64;
constexpr std::size_t kNameBytes = 64;

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_container_id(std::string_view text) {
  return text.size() == kIdLength && std::ranges::all_of(text, is_hex);
}

// `text` less `before` and `after`; "" unless it has both.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  if (text.size() < before.size() + after.size() || !text.starts_with(before) ||
      !text.ends_with(after)) {
    return {};
  }
  return text.substr(before.size(), text.size() - before.size() - after.size());
}

// The part of a systemd slice or a folder that names a pod: "kubepods-burstable-pod<uid_>.slice",
// "pod<uid>". systemd has no dashes inside of names, so they are underscores there.
std::string find_pod(std::string_view part) {
  constexpr std::size_t kUidLength = 36;
  if (part.ends_with(".slice")) part.remove_suffix(6);
  const auto at = part.rfind("pod");
  if (at == std::string_view::npos) return {};
  if (at != 0 && part[at - 1] != '-') return {};
  std::string uid(part.substr(at + 3));
  std::ranges::replace(uid, '_', '-');
  // A static pod's is the hash of its manifest: 32 digits without dashes.
  const bool has_dashes = uid.size() == kUidLength;
  if (!has_dashes && uid.size() != 32) return {};
  if (!std::ranges::all_of(uid, [](char c) { return is_hex(c) || c == '-'; })) return {};
  if (has_dashes != (uid.find('-') != std::string::npos)) return {};
  return uid;
}

std::string_view runtime_of_prefix(std::string_view prefix) {
  if (prefix == "docker") return "docker";
  if (prefix == "cri-containerd" || prefix == "nerdctl") return "containerd";
  if (prefix == "crio") return "cri-o";
  if (prefix == "libpod") return "podman";
  return {};
}

// A part that names a container by its 64 digits, alone or as "<prefix>-<id>[.scope]".
bool read_id(std::string_view part, std::string_view parent, Container& container) {
  if (part.ends_with(".scope")) part.remove_suffix(6);
  if (part.size() < kIdLength) return false;
  const std::string_view id = part.substr(part.size() - kIdLength);
  if (!is_container_id(id)) return false;
  std::string_view prefix = part.substr(0, part.size() - kIdLength);
  if (!prefix.empty() && !prefix.ends_with('-')) return false;
  if (!prefix.empty()) prefix.remove_suffix(1);
  // conmon watches a container from outside; it is not in it.
  if (prefix.ends_with("conmon")) return false;
  container.container_id = id;
  if (!prefix.empty()) {
    container.runtime = runtime_of_prefix(prefix);
  } else if (parent == "docker") {
    container.runtime = "docker";
  } else if (container.pod_uid.empty() && !parent.empty()) {
    // containerd alone puts containers into a folder named by its namespace.
    container.runtime = "containerd";
  }
  // In a pod without prefix any of the runtimes may be at work: the path does not tell.
  return true;
}

void read_named(std::string_view part, std::string_view parent, Container& container) {
  const auto take = [&](std::string_view runtime, std::string_view name) {
    if (name.empty() || !container.container_id.empty()) return;
    container.runtime = runtime;
    container.container_id = base::clean_text(name, kNameBytes);
  };
  take("lxc", between(part, "lxc.payload.", ""));
  if (parent == "lxc") take("lxc", part);
  const std::string_view name = between(part, "machine-", ".scope");
  if (!name.starts_with("qemu")) take("nspawn", name);
}

// "job_123", "step_0", and the folders of jobs below slurmstepd.scope.
void read_slurm(std::string_view part, std::string_view parent, Container& container) {
  const std::string_view job = between(part, "job_", "");
  if (!job.empty() && std::ranges::all_of(job, is_digit)) container.slurm_job = job;
  const std::string_view step = between(part, "step_", "");
  const bool is_in_job = !container.slurm_job.empty() || !container.slurm_sluid.empty();
  if (!step.empty() && is_in_job) container.slurm_step = base::clean_text(step, kNameBytes);
  const bool is_scope = parent == "slurmstepd.scope" || parent.ends_with("_slurmstepd.scope");
  const bool is_sluid = part.size() >= 8 && part.size() <= 32 && part.front() == 's' &&
                        std::ranges::all_of(part.substr(1), [](char c) {
                          return is_digit(c) || (c >= 'A' && c <= 'Z');
                        });
  if (is_scope && is_sluid) container.slurm_sluid = part;
}

bool is_slurm_root(std::string_view part) {
  return part == "slurm" || part.starts_with("slurm_") || part == "slurmstepd.scope" ||
         part.ends_with("_slurmstepd.scope");
}

}  // namespace

Container parse_container(std::string_view cgroup_path) {
  Container container;
  bool is_in_slurm = false;
  std::string_view parent;
  // From the outside in: what is nested (kind, Docker in a pod) names the innermost container.
  for (const std::string_view part : base::split(cgroup_path, '/')) {
    if (part.empty()) continue;
    if (is_in_slurm) read_slurm(part, parent, container);
    is_in_slurm = is_in_slurm || is_slurm_root(part);
    if (std::string pod = find_pod(part); !pod.empty()) {
      container.pod_uid = std::move(pod);
      // The node of a nested cluster was the container so far.
      container.container_id.clear();
      container.runtime.clear();
    }
    if (!read_id(part, parent, container)) {
      read_named(part, parent, container);
    }
    parent = part;
  }
  if (container.runtime.empty() && is_in_slurm &&
      !(container.slurm_job.empty() && container.slurm_sluid.empty())) {
    container.runtime = "slurm";
  }
  return container;
}

std::string find_unit(std::string_view cgroup_path) {
  std::string_view unit;
  for (const std::string_view part : base::split(cgroup_path, '/')) {
    if (part.ends_with(".service") || part.ends_with(".scope")) unit = part;
  }
  return base::clean_text(unit, kNameBytes);
}

Container parse_container_of_process(std::string_view proc_cgroup) {
  const std::vector<CgroupLine> lines = parse_cgroup_lines(proc_cgroup);
  for (const bool is_unified : {true, false}) {
    for (const CgroupLine& line : lines) {
      if (line.controllers.empty() != is_unified) continue;
      Container container = parse_container(line.path);
      if (container != Container{}) return container;
    }
  }
  return {};
}

}  // namespace everywatt::host
