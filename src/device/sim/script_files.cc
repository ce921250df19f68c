// SPDX-License-Identifier: Apache-2.0
//
// The files of the fake host root that follow from the scenario: the GPUs on the bus, the driver's
// version, and the processes that it names.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "device/sim/host_image.h"
#include "device/sim/machine_state.h"
#include "device/sim/profile.h"

namespace everywatt::sim {
namespace {

// Of a process that was there before the play.
constexpr std::int64_t kRunBeforePlay = 6'000'000'000;
constexpr std::uint32_t kLauncherPid = 900;

void add_pci(const Scenario& scenario, std::int64_t played_ns, HostImage& image) {
  const LibraryEntry* trouble = library_trouble(scenario, played_ns);
  const bool is_loaded = !trouble || !trouble->not_loaded;
  for (std::uint32_t gpu = 0; gpu < scenario.devices.size(); ++gpu) {
    if (!is_present(scenario, gpu, played_ns)) continue;
    const Profile* profile = profile_by_key(scenario.devices[gpu].profile);
    const std::string folder = fmt::format("sys/bus/pci/devices/0000:{:02x}:00.0/", gpu + 1);
    image[folder + "vendor"].content = "0x10de\n";
    image[folder + "device"].content = fmt::format("0x{:04x}\n", profile->pci_device_id >> 16);
    image[folder + "class"].content = "0x030200\n";
    image[folder + "numa_node"].content = std::to_string(gpu / 4 % 2) + "\n";
    if (is_loaded) {
      image[folder + "driver"] = {"../../../../bus/pci/drivers/nvidia", ImageFile::Kind::kLink};
    }
    // What sysfs says of the slot: as fast as the recorded GPU.
    image[folder + "max_link_speed"].content = "32.0 GT/s PCIe\n";
    image[folder + "max_link_width"].content = std::to_string(kPcieWidth) + "\n";
  }
  if (is_loaded) {
    image["sys/module/nvidia/version"].content = driver_version(scenario, played_ns) + "\n";
  }
}

// A pid may be on several GPUs: one process, as old as its first entry. One whose entries do not
// meet is another process each time.
std::map<std::uint32_t, const ProcessEntry*> running(const Scenario& scenario,
                                                     std::int64_t played_ns) {
  std::map<std::uint32_t, const ProcessEntry*> first;
  for (const ProcessEntry& entry : scenario.processes) {
    if (!entry.span.holds(played_ns)) continue;
    const ProcessEntry*& known = first[entry.pid];
    if (!known || entry.span.from_ns < known->span.from_ns) known = &entry;
  }
  return first;
}

void add_process(const ProcessEntry& process, const BootTimes& boot, HostImage& image) {
  const std::int64_t born_ns = std::max(process.span.from_ns, -kRunBeforePlay);
  const std::int64_t start_ticks =
      std::max<std::int64_t>(0, (boot.uptime_ns + born_ns) / 10'000'000);
  const std::string program = process.command.substr(0, process.command.find(' '));
  const std::string comm = program.substr(program.rfind('/') + 1).substr(0, 15);
  std::string command;
  for (const std::string_view word : base::split_words(process.command))
    command.append(word).append(1, '\0');
  const std::string folder = fmt::format("proc/{}/", process.pid);
  image[folder + "stat"].content = fmt::format(
      "{0} ({1}) S {2} {0} {0} 0 -1 4194304 1000 0 10 0 0 0 0 0 20 0 1 0 {3} 1073741824 25600 "
      "18446744073709551615 1 1 0 0 0 0 0 16781312 17538 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
      process.pid, comm, kLauncherPid, start_ticks);
  image[folder + "status"].content = fmt::format(
      "Name:\t{0}\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t{1}\nNgid:\t0\nPid:\t{1}\n"
      "PPid:\t{2}\nTracerPid:\t0\nUid:\t{3}\t{3}\t{3}\t{3}\nGid:\t{3}\t{3}\t{3}\t{3}\nNSpid:\t{1}\n"
      "VmSize:\t1048576 kB\nVmRSS:\t102400 kB\nThreads:\t1\nCpus_allowed_list:\t0-15\n"
      "Mems_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n",
      comm, process.pid, kLauncherPid, process.uid);
  image[folder + "io"].content =
      "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n"
      "cancelled_write_bytes: 0\n";
  image[folder + "cmdline"].content = command;
  image[folder + "environ"].content = "";
  image[folder + "comm"].content = comm + "\n";
  image[folder + "cgroup"].content = "0::" + process.cgroup + "\n";
  image[folder + "cwd"] = {"/", ImageFile::Kind::kLink};
  image[fmt::format("{}task/{}/children", folder, process.pid)].content = "";
}

}  // namespace

void add_script(const Scenario& scenario, std::int64_t played_ns, const BootTimes& boot,
                HostImage& image) {
  add_pci(scenario, played_ns, image);
  for (const auto& [pid, process] : running(scenario, played_ns)) {
    // The trace's own processes have files of their own.
    if (image.contains(fmt::format("proc/{}/stat", pid))) continue;
    add_process(*process, boot, image);
  }
}

}  // namespace everywatt::sim
