// SPDX-License-Identifier: Apache-2.0
//
// The files of the fake host root that speak of one job: its processes and its control group.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "device/sim/host_image.h"

namespace everywatt::sim {
namespace {

constexpr double kTicksPerSecond = 100;
constexpr std::uint64_t kPageKb = 4;
// The load was started this long before the moment from which a trace is played.
constexpr std::int64_t kRunBeforePlay = 6'000'000'000;
// The split of a process's time was not recorded.
constexpr double kSystemShare = 0.08;
constexpr std::uint32_t kLauncherPid = 900;

// One process as its files show it.
struct Shown {
  std::uint32_t pid = 0;
  std::uint32_t parent = kLauncherPid;
  char state = 'S';
  double cpu_seconds = 0;
  std::uint64_t threads = 1;
  std::uint64_t rss_kb = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t start_ticks = 0;
  std::uint32_t pid_in_container = 0;
};

struct Context {
  const PlayedJob& job;
  std::uint32_t gpu;
  std::int64_t played_ns;
  const BootTimes& boot;
  Position here;

  std::string cpus() const {
    return fmt::format("{}-{}", gpu * job.host.cpus, (gpu + 1) * job.host.cpus - 1);
  }
  bool spans(std::uint32_t ordinal) const {
    return std::find(job.spanning.begin(), job.spanning.end(), ordinal) != job.spanning.end();
  }
  std::int64_t birth_lap(std::uint32_t ordinal) const { return spans(ordinal) ? 0 : here.lap; }
};

// A millionth of a tick is added: laps are summed in floating point, and what was a whole tick must
// not fall below.
std::uint64_t ticks(double seconds) {
  return static_cast<std::uint64_t>(std::floor(std::max(0.0, seconds) * kTicksPerSecond + 1e-6));
}
std::uint64_t microseconds(double seconds) {
  return static_cast<std::uint64_t>(std::floor(seconds * 1e6 + 1e-3));
}

std::string comm(const trace::Owner& owner) {
  const std::string& program = owner.command.front();
  return program.substr(program.rfind('/') + 1).substr(0, 15);
}

std::string proc_stat(const Shown& shown, const trace::Owner& owner) {
  const std::uint64_t user = ticks(shown.cpu_seconds * (1 - kSystemShare));
  const std::uint64_t system = ticks(shown.cpu_seconds * kSystemShare);
  return fmt::format(
      "{0} ({1}) {2} {3} {0} {0} 0 -1 4194304 1000 0 10 0 {4} {5} 0 0 20 0 {6} 0 {7} {8} {9} "
      "18446744073709551615 1 1 0 0 0 0 0 16781312 17538 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
      shown.pid, comm(owner), shown.state, shown.parent, user, system, shown.threads,
      shown.start_ticks, (shown.rss_kb + (16ull << 20)) * 1024, shown.rss_kb / kPageKb);
}

const char* state_name(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'D':
      return "disk sleep";
    case 'Z':
      return "zombie";
    default:
      return "sleeping";
  }
}

std::string status(const Shown& shown, const trace::Owner& owner, const std::string& cpus) {
  std::string text = fmt::format(
      "Name:\t{0}\nUmask:\t0022\nState:\t{1} ({2})\nTgid:\t{3}\nNgid:\t0\nPid:\t{3}\nPPid:\t{4}\n"
      "TracerPid:\t0\nUid:\t{5}\t{5}\t{5}\t{5}\nGid:\t{6}\t{6}\t{6}\t{6}\n",
      comm(owner), shown.state, state_name(shown.state), shown.pid, shown.parent, owner.uid,
      owner.gid);
  text += fmt::format("NSpid:\t{}", shown.pid);
  if (shown.pid_in_container > 0) text += fmt::format("\t{}", shown.pid_in_container);
  text += "\n";
  if (shown.state != 'Z') {
    text +=
        fmt::format("VmSize:\t{} kB\nVmRSS:\t{} kB\n", shown.rss_kb + (16ull << 20), shown.rss_kb);
  }
  return text + fmt::format(
                    "Threads:\t{}\nCpus_allowed_list:\t{}\nMems_allowed_list:\t0-1\n"
                    "voluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n",
                    shown.threads, cpus);
}

std::string io(const Shown& shown) {
  return fmt::format(
      "rchar: {0}\nwchar: {1}\nsyscr: 0\nsyscw: 0\nread_bytes: {0}\nwrite_bytes: {1}\n"
      "cancelled_write_bytes: 0\n",
      shown.read_bytes, shown.write_bytes);
}

void add_process(const Context& context, const Shown& shown, const std::string& children,
                 HostImage& image) {
  const trace::Owner& owner = context.job.owner;
  const std::string folder = fmt::format("proc/{}/", shown.pid);
  std::string command;
  for (const std::string& word : owner.command)
    command += word + '\0';
  std::string environment;
  for (const auto& [name, value] : owner.environment) {
    environment.append(name).append(1, '=').append(value).append(1, '\0');
  }
  image[folder + "stat"].content = proc_stat(shown, owner);
  image[folder + "status"].content = status(shown, owner, context.cpus());
  image[folder + "io"].content = io(shown);
  image[folder + "cmdline"].content = shown.state == 'Z' ? "" : command;
  image[folder + "environ"].content = environment;
  image[folder + "comm"].content = comm(owner) + "\n";
  image[folder + "cgroup"].content = "0::" + owner.cgroup + "\n";
  image[folder + "cwd"] = {owner.working_folder, ImageFile::Kind::kLink};
  image[fmt::format("{}task/{}/children", folder, shown.pid)].content = children;
}

std::uint64_t start_ticks(const Context& context, std::int64_t birth_lap) {
  const std::int64_t born_ns =
      birth_lap == 0 ? -kRunBeforePlay
                     : played_at(context.job.loop, {context.job.loop.begin_ns, birth_lap});
  return ticks(static_cast<double>(context.boot.uptime_ns + born_ns) / 1e9);
}

// What grew since the process was born: all laps for one that lives through them, else this lap.
template <typename Growing>
auto since_birth(const Context& context, const Growing& growing, std::uint32_t ordinal) {
  const Loop& loop = context.job.loop;
  if (context.spans(ordinal)) return HostTrace::over_laps(growing, loop, context.here);
  const auto now = growing.at(context.here.trace_ns);
  return context.here.lap == 0 ? now : now - growing.at(loop.begin_ns);
}

// The training process and its workers, which share what was recorded of the tree as a whole.
std::vector<Shown> process_tree(const Context& context) {
  const HostTrace& host = context.job.host;
  const std::int64_t trace_ns = context.here.trace_ns;
  if (trace_ns >= host.end_ns) return {};
  constexpr std::uint32_t kMain = 0;
  const std::int64_t birth_lap = context.birth_lap(kMain);
  const auto workers = static_cast<std::uint32_t>(host.children.at(trace_ns));
  const auto threads = static_cast<std::uint64_t>(host.threads.at(trace_ns));
  const auto rss_kb = static_cast<std::uint64_t>(host.rss_kb.at(trace_ns)) / (workers + 1);

  Shown main;
  main.pid = process_pid(context.gpu, 0, birth_lap);
  main.state = static_cast<char>(host.state.at(trace_ns));
  main.cpu_seconds = since_birth(context, host.main, kMain);
  main.threads = std::max<std::uint64_t>(1, threads > workers ? threads - workers : 1);
  main.rss_kb = rss_kb;
  main.read_bytes = static_cast<std::uint64_t>(since_birth(context, host.read_bytes, kMain));
  main.write_bytes = static_cast<std::uint64_t>(since_birth(context, host.write_bytes, kMain));
  main.start_ticks = start_ticks(context, birth_lap);
  main.pid_in_container = context.job.owner.pid_in_container;
  std::vector<Shown> tree = {main};
  const double worker_seconds = since_birth(context, host.worker, kMain);
  for (std::uint32_t i = 0; i < workers; ++i) {
    Shown worker;
    worker.pid = worker_pid(context.gpu, i, birth_lap);
    worker.parent = main.pid;
    worker.state = 'R';
    worker.cpu_seconds = worker_seconds;
    worker.rss_kb = rss_kb;
    worker.start_ticks = main.start_ticks + 800 + i;
    if (main.pid_in_container > 0) worker.pid_in_container = main.pid_in_container + 60 + i;
    tree.push_back(worker);
  }
  return tree;
}

void add_group(const Context& context, const std::vector<Shown>& tree, HostImage& image) {
  const trace::Owner& owner = context.job.owner;
  const HostTrace& host = context.job.host;
  const std::string folder = "sys/fs/cgroup" + owner.cgroup + "/";
  const std::uint64_t user_us =
      microseconds(HostTrace::over_laps(host.user, context.job.loop, context.here));
  const std::uint64_t system_us =
      microseconds(HostTrace::over_laps(host.system, context.job.loop, context.here));
  std::uint64_t memory = 0;
  std::string pids;
  for (const Shown& shown : tree) {
    memory += shown.rss_kb * 1024;
    pids += std::to_string(shown.pid) + "\n";
  }
  const bool has_quota = !owner.cpu_max.starts_with("max");
  const auto periods =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, context.played_ns)) / 100'000'000;
  image[folder + "cpu.max"].content = owner.cpu_max + "\n";
  image[folder + "cpu.stat"].content = fmt::format(
      "usage_usec {}\nuser_usec {}\nsystem_usec {}\nnr_periods {}\nnr_throttled 0\n"
      "throttled_usec 0\n",
      user_us + system_us, user_us, system_us, has_quota ? periods : 0);
  image[folder + "memory.max"].content = owner.memory_max + "\n";
  image[folder + "memory.current"].content = std::to_string(memory) + "\n";
  image[folder + "memory.events"].content = "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n";
  image[folder + "cpuset.cpus.effective"].content = context.cpus() + "\n";
  image[folder + "cgroup.procs"].content = pids;
}

}  // namespace

void add_job(const PlayedJob& job, std::uint32_t gpu, std::int64_t played_ns, const BootTimes& boot,
             HostImage& image) {
  const Context context{job, gpu, played_ns, boot, position(job.loop, played_ns)};
  std::vector<Shown> tree = process_tree(context);
  std::string children;
  for (std::size_t i = 1; i < tree.size(); ++i)
    children += std::to_string(tree[i].pid) + " ";
  // Further GPU processes of the trace, of which the host's part was not recorded.
  if (const ProcessListing* listing = job.gpu.listing_at(context.here.trace_ns)) {
    for (const ListedProcess& process : listing->processes) {
      if (process.ordinal == 0 && !tree.empty()) continue;
      Shown other;
      const std::int64_t birth_lap = context.birth_lap(process.ordinal);
      other.pid = process_pid(gpu, process.ordinal, birth_lap);
      other.start_ticks = start_ticks(context, birth_lap);
      tree.push_back(other);
    }
  }
  for (std::size_t i = 0; i < tree.size(); ++i) {
    add_process(context, tree[i], i == 0 ? children : "", image);
  }
  add_group(context, tree, image);
}

}  // namespace everywatt::sim
