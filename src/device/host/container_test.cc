// SPDX-License-Identifier: Apache-2.0
#include "device/host/container.h"

#include <gtest/gtest.h>

#include "device/host/cgroup.h"
#include "device/host/fake_root.h"

namespace everywatt::host {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kOther = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";
constexpr const char* kPod = "1b2c3d4e-5f60-7182-93a4-b5c6d7e8f901";
constexpr const char* kPodSlice = "pod1b2c3d4e_5f60_7182_93a4_b5c6d7e8f901.slice";

struct Case {
  std::string path;
  Container expected;
};

TEST(Container, IsReadFromEveryKnownShapeOfAPath) {
  const std::string kubepods = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-";
  const Container containerd{.runtime = "containerd", .container_id = kId, .pod_uid = kPod};
  const Container crio{.runtime = "cri-o", .container_id = kId, .pod_uid = kPod};
  const Container bare{.runtime = "", .container_id = kId, .pod_uid = kPod};
  const Container docker{.runtime = "docker", .container_id = kId};
  const Container podman{.runtime = "podman", .container_id = kId};
  const std::vector<Case> cases = {
      {"/system.slice/docker-" + kId + ".scope", docker},
      {"/docker/" + kId, docker},
      {kubepods + kPodSlice + "/cri-containerd-" + kId + ".scope", containerd},
      {kubepods + kPodSlice + "/crio-" + kId + ".scope", crio},
      {kubepods + kPodSlice + "/crio-" + kId + ".scope/container", crio},
      {kubepods + kPodSlice + "/docker-" + kId + ".scope",
       {.runtime = "docker", .container_id = kId, .pod_uid = kPod}},
      {"/kubepods.slice/kubepods-" + std::string(kPodSlice) + "/cri-containerd-" + kId + ".scope",
       containerd},
      {"/kubepods/burstable/pod" + std::string(kPod) + "/" + kId, bare},
      {"/kubepods/pod" + std::string(kPod) + "/" + kId, bare},
      {"/kubepods/pod" + std::string(kPod) + "/crio-" + kId, crio},
      {"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
       "kubelet-kubepods-besteffort-" +
           std::string(kPodSlice) + "/cri-containerd-" + kId + ".scope",
       containerd},
      {"/docker/" + kOther + "/kubelet/kubepods/besteffort/pod" + kPod + "/" + kId, bare},
      {"/machine.slice/libpod-" + kId + ".scope", podman},
      {"/machine.slice/libpod-" + kId + ".scope/container", podman},
      {"/libpod_parent/libpod-" + kId, podman},
      {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId + ".scope", podman},
      {"/system.slice/nerdctl-" + kId + ".scope", {.runtime = "containerd", .container_id = kId}},
      {"/default/" + kId, {.runtime = "containerd", .container_id = kId}},
      {"/lxc.payload.box", {.runtime = "lxc", .container_id = "box"}},
      {"/lxc/box", {.runtime = "lxc", .container_id = "box"}},
      {"/machine.slice/machine-deb.scope", {.runtime = "nspawn", .container_id = "deb"}},
      {"/kubepods.slice/kubepods-pod0123456789abcdef0123456789abcdef.slice/cri-containerd-" + kId +
           ".scope",
       {.runtime = "containerd",
        .container_id = kId,
        .pod_uid = "0123456789abcdef0123456789abcdef"}}};
  for (const Case& one : cases)
    EXPECT_EQ(parse_container(one.path), one.expected) << one.path;
}

TEST(Container, OfSlurmIsItsJob) {
  const auto job = [](std::string id, std::string step) {
    return Container{.runtime = "slurm", .slurm_job = std::move(id), .slurm_step = std::move(step)};
  };
  EXPECT_EQ(parse_container("/system.slice/slurmstepd.scope/job_123/step_0/user/task_0"),
            job("123", "0"));
  EXPECT_EQ(parse_container("/system.slice/n01_slurmstepd.scope/job_7/step_batch/user/task_0"),
            job("7", "batch"));
  EXPECT_EQ(parse_container("/slurm/uid_1000/job_7/step_extern/task_0"), job("7", "extern"));
  EXPECT_EQ(parse_container("/slurm_n01/uid_1000/job_7"), job("7", ""));
  const Container renamed =
      parse_container("/system.slice/slurmstepd.scope/s5K1ABCDEF/step_0/user");
  EXPECT_EQ(renamed.slurm_sluid, "s5K1ABCDEF");
  EXPECT_EQ(renamed.slurm_step, "0");
  EXPECT_EQ(renamed.runtime, "slurm");
  // Junk is no job, and never one with an empty name.
  for (const char* path : {"/slurm/uid_1000/job_", "/slurm/job_x", "/slurm", "/job_7/step_0",
                           "/system.slice/slurmstepd.scope/system"}) {
    EXPECT_EQ(parse_container(path), Container{}) << path;
  }
}

TEST(Container, IsNotInventedFromOtherPaths) {
  for (const std::string& path :
       {std::string("/"), std::string(""), std::string("/user.slice/user-0.slice/session-4.scope"),
        std::string("/init.scope"), std::string("/machine.slice/machine-qemu-1-vm.scope"),
        std::string("/lxc.monitor.box"), "/system.slice/libpod-conmon-" + kId + ".scope",
        "/system.slice/x" + kId + ".scope", "/system.slice/docker-" + kId.substr(1) + ".scope",
        std::string("/podium/tripod"), std::string("/kubepods/pod1234")}) {
    EXPECT_EQ(parse_container(path), Container{}) << path;
  }
}

TEST(Container, IsTheInnermostOne) {
  const Container inner =
      parse_container("/system.slice/docker-" + kOther + ".scope/docker/" + kId);
  EXPECT_EQ(inner.container_id, kId);
}

TEST(Container, OfAProcessComesFromVersion2First) {
  EXPECT_EQ(parse_container_of_process("12:memory:/docker/" + kId + "\n0::/\n").container_id, kId);
  EXPECT_EQ(parse_container_of_process("12:memory:/docker/" + kId + "\n0::/docker/" + kOther + "\n")
                .container_id,
            kOther);
  EXPECT_EQ(parse_container_of_process("broken\n\n::\n"), Container{});
}

TEST(Unit, IsTheInnermostOfThePath) {
  EXPECT_EQ(find_unit("/system.slice/train.service"), "train.service");
  EXPECT_EQ(find_unit("/user.slice/user-1000.slice/user@1000.service/app.slice/run-7.scope/x"),
            "run-7.scope");
  EXPECT_EQ(find_unit("/docker/" + kId), "");
}

TEST(Cgroup, MainPathNamesTheGroup) {
  EXPECT_EQ(main_path(parse_cgroup_lines("0::/a/b\n")), "/a/b");
  EXPECT_EQ(
      main_path(parse_cgroup_lines("9:name=systemd:/s\n4:memory:/m\n1:cpu,cpuacct:/c\n0::/\n")),
      "/m");
  EXPECT_EQ(main_path(parse_cgroup_lines("0::/gone (deleted)\n")), "/gone");
  EXPECT_EQ(main_path(parse_cgroup_lines("0::/\n")), "/");
  EXPECT_EQ(main_path({}), "/");
}

TEST(Cgroup, LimitsOfVersion2AreTheTightestUpToTheRoot) {
  const FakeRoot fake;
  const std::string pod = "/sys/fs/cgroup/kube/pod";
  fake.write(pod + "/cpu.max", "400000 100000\n");
  fake.write(pod + "/cpu.stat", "usage_usec 9000000\nthrottled_usec 2500000\n");
  fake.write(pod + "/memory.max", "1073741824\n");
  fake.write(pod + "/box/cpu.max", "max 100000\n");
  fake.write(pod + "/box/cpu.stat", "usage_usec 5000000\nnr_throttled 0\nthrottled_usec 0\n");
  fake.write(pod + "/box/memory.max", "max\n");
  fake.write(pod + "/box/memory.current", "4096\n");
  fake.write(pod + "/box/memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 3\n");
  fake.write(pod + "/box/cpuset.cpus.effective", "0-3,8\n");
  const CgroupLimits limits = read_cgroup_limits(fake.root(), "0::/kube/pod/box\n");
  EXPECT_EQ(limits.cpu_quota_cores, 4.0);
  EXPECT_EQ(limits.cpu_seconds, 5.0);
  EXPECT_EQ(limits.throttled_seconds, 2.5);
  EXPECT_EQ(limits.memory_limit_bytes, 1073741824u);
  EXPECT_EQ(limits.memory_bytes, 4096u);
  EXPECT_EQ(limits.memory_limit_events, 7u);
  EXPECT_EQ(limits.out_of_memory_kills, 3u);
  EXPECT_EQ(limits.allowed_cpus, 5u);
  EXPECT_FALSE(limits.failure.has_value());
}

TEST(Cgroup, LimitsOfVersion1AreReadFromItsControllers) {
  const FakeRoot fake;
  fake.write("/sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us", "150000\n");
  fake.write("/sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us", "100000\n");
  fake.write("/sys/fs/cgroup/cpu/docker/a/cpu.stat",
             "nr_periods 5\nnr_throttled 2\nthrottled_time 1500000000\n");
  fake.write("/sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us", "-1\n");
  fake.write("/sys/fs/cgroup/cpuacct/docker/a/cpuacct.usage", "2000000000\n");
  fake.write("/sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes", "1048576\n");
  fake.write("/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "9223372036854771712\n");
  fake.write("/sys/fs/cgroup/memory/docker/a/memory.usage_in_bytes", "8192\n");
  fake.write("/sys/fs/cgroup/memory/docker/a/memory.failcnt", "4\n");
  fake.write("/sys/fs/cgroup/memory/docker/a/memory.oom_control",
             "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  fake.write("/sys/fs/cgroup/cpuset/docker/a/cpuset.effective_cpus", "0-1\n");
  const CgroupLimits limits = read_cgroup_limits(
      fake.root(),
      "4:memory:/docker/a\n3:cpuset:/docker/a\n2:cpu,cpuacct:/docker/a\n1:name=systemd:/x\n0::/\n");
  EXPECT_EQ(limits.cpu_quota_cores, 1.5);
  EXPECT_EQ(limits.cpu_seconds, 2.0);
  EXPECT_EQ(limits.throttled_seconds, 1.5);
  EXPECT_EQ(limits.memory_limit_bytes, 1048576u);
  EXPECT_EQ(limits.memory_bytes, 8192u);
  EXPECT_EQ(limits.memory_limit_events, 4u);
  EXPECT_EQ(limits.out_of_memory_kills, 1u);
  EXPECT_EQ(limits.allowed_cpus, 2u);
}

TEST(Cgroup, LimitsOfTheMixedLayoutComeFromBothVersions) {
  const FakeRoot fake;
  fake.write("/sys/fs/cgroup/unified/cgroup.controllers", "cpuset\n");
  fake.write("/sys/fs/cgroup/unified/box/cpuset.cpus.effective", "0-2\n");
  fake.write("/sys/fs/cgroup/unified/box/cpu.stat", "usage_usec 3000000\n");
  fake.write("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4096\n");
  const CgroupLimits limits =
      read_cgroup_limits(fake.root(), "4:memory:/box\n1:name=systemd:/box\n0::/box\n");
  EXPECT_EQ(limits.allowed_cpus, 3u);
  EXPECT_EQ(limits.cpu_seconds, 3.0);
  EXPECT_EQ(limits.memory_limit_bytes, 4096u);
  EXPECT_FALSE(limits.failure.has_value());
}

TEST(Cgroup, WithFilesThatAreDamagedHasNoLimitsOfTheirKind) {
  const FakeRoot fake;
  for (const char* text : {"", "\n", "-5\n", "99999999999999999999999\n", "max max\n", "1 0\n"}) {
    fake.write("/sys/fs/cgroup/box/cpu.max", text);
    fake.write("/sys/fs/cgroup/box/cpu.stat", text);
    fake.write("/sys/fs/cgroup/box/memory.max", text);
    fake.write("/sys/fs/cgroup/box/memory.events", text);
    fake.write("/sys/fs/cgroup/box/cpuset.cpus.effective", text);
    const CgroupLimits limits = read_cgroup_limits(fake.root(), "0::/box\n");
    EXPECT_FALSE(limits.cpu_quota_cores.has_value()) << text;
    EXPECT_FALSE(limits.cpu_seconds.has_value()) << text;
    EXPECT_FALSE(limits.memory_limit_bytes.has_value()) << text;
    EXPECT_FALSE(limits.out_of_memory_kills.has_value()) << text;
    EXPECT_FALSE(limits.allowed_cpus.has_value()) << text;
  }
}

TEST(Cgroup, OfAProcessOutsideOfOurViewHasNoLimits) {
  const FakeRoot fake;
  fake.write("/sys/fs/secret/cpu.max", "1 1\n");
  const CgroupLimits limits = read_cgroup_limits(fake.root(), "0::/../secret\n");
  EXPECT_EQ(limits.failure, base::Code::kNotFound);
  EXPECT_FALSE(limits.cpu_quota_cores.has_value());
  EXPECT_EQ(read_cgroup_limits(fake.root(), "0::/none\n").failure, base::Code::kNotFound);
  EXPECT_EQ(read_cgroup_limits(fake.root(), "").failure, base::Code::kNotFound);
}

TEST(Cgroup, QuotaIsInCores) {
  EXPECT_EQ(parse_cpu_max("50000 100000"), 0.5);
  EXPECT_FALSE(parse_cpu_max("max 100000").has_value());
  EXPECT_FALSE(parse_cpu_max("100000 0").has_value());
  EXPECT_FALSE(parse_cpu_max("").has_value());
}

}  // namespace
}  // namespace everywatt::host
