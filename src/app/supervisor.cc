// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <map>

#include "app/backoff.h"
#include "app/child.h"
#include "app/part.h"
#include "app/stop_signals.h"
#include "app/supervisor_log.h"
#include "base/clock.h"
#include "base/log.h"
#include "device/nvml/call.h"

namespace everywatt::app {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr int kTickMs = 250;
// What the parts together may take to end in good order before they are killed, and again to be
// gone then: less than the five seconds in which everything must be over.
constexpr int kStopMs = 2000;
// One that hangs is asked too, for its other threads' sake, but is not expected to answer.
constexpr int kHungStopMs = 500;

constexpr std::size_t kSamplerIndex = 0;

// One of our processes, running or to be started again.
struct PartProcess {
  std::string name;
  recorder::Part part{};
  bool is_companion = false;
  std::optional<Child> child = {};
  std::uint64_t pid = 0;  // of the last one started
  std::int64_t started_ns = 0;
  std::int64_t start_at_ns = 0;
  Backoff backoff{kSecond / 10, 10 * kSecond, 30 * kSecond};
};

// A GPU that is left alone because a call on it hung.
struct Fence {
  std::int64_t retry_at_ns = 0;
  Backoff backoff{30 * kSecond, 10 * kMinute, 30 * kMinute};
  std::int64_t last_retry_ns = 0;
  bool is_up = false;
};

}  // namespace

struct Supervisor::State {
  explicit State(SupervisorOptions given, SupervisorLog opened_log)
      : options(std::move(given)), log(std::move(opened_log)) {}

  SupervisorOptions options;
  SupervisorLog log;
  base::UniqueFd signals;
  base::UniqueFd settings;
  base::UniqueFd folder;
  std::vector<PartProcess> processes;
  std::map<std::uint32_t, Fence> fences;  // by place of the GPU
  bool has_announced = false;
  std::int64_t began_ns = base::boottime_ns();

  recorder::File& file() { return *options.files.recorder; }

  base::Status prepare();
  ChildOptions child_options(const PartProcess& process) const;
  void start_due(std::int64_t now_ns);
  void start(PartProcess& process, std::int64_t now_ns);
  void notice_endings(std::int64_t now_ns);
  void end(PartProcess& process, const Ending& ending, std::int64_t now_ns);
  void say_alive(std::int64_t now_ns);
  void watch_calls(std::int64_t now_ns);
  void retry_fenced(std::int64_t now_ns);
  void replace_sampler(std::int64_t now_ns);
  void announce(std::int64_t now_ns);
  void wait_for_all(int timeout_ms);
  void stop_all();
};

base::Status Supervisor::State::prepare() {
  const sigset_t mask = block_stop_signals();
  signals = base::UniqueFd(::signalfd(-1, &mask, SFD_CLOEXEC));
  if (!signals.is_open()) return base::fail_errno("wait for", "signals");
  auto text = make_settings_fd(options.config);
  if (!text) return std::unexpected(text.error());
  settings = *std::move(text);
  const std::string& path = options.folder.files;
  folder = base::UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return base::fail_errno("open", path);
  processes.push_back({.name = std::string(kSamplerPart), .part = recorder::Part::kSampler});
  processes.push_back({.name = std::string(kHostPart), .part = recorder::Part::kHost});
  processes.push_back({.name = std::string(kServerPart), .part = recorder::Part::kServer});
  if (options.companion) {
    processes.push_back(
        {.name = "player", .part = recorder::Part::kSupervisor, .is_companion = true});
  }
  recorder::PartSlot& own = file().part(recorder::Part::kSupervisor);
  own.pid.store(static_cast<std::uint64_t>(::getpid()));
  own.started_ns.store(static_cast<std::uint64_t>(began_ns));
  own.starts.fetch_add(1);
  return {};
}

ChildOptions Supervisor::State::child_options(const PartProcess& process) const {
  ChildOptions child;
  if (process.is_companion) {
    child.program = options.companion->program;
    child.arguments = options.companion->arguments;
    return child;
  }
  PartWords words{.parent = ::getpid(), .pci_addresses = {}, .fenced = {}, .note = {}};
  child.descriptors = {settings.get()};
  switch (process.part) {
    case recorder::Part::kSampler:
      words.pci_addresses = options.pci_addresses;
      for (const auto& [place, fence] : fences) {
        if (fence.is_up) words.fenced.push_back(place);
      }
      child.environment = options.sampler_environment;
      child.descriptors.push_back(options.files.recorder->fd());
      break;
    case recorder::Part::kHost:
      child.descriptors.push_back(options.files.recorder->fd());
      child.descriptors.push_back(options.files.identities->fd());
      break;
    case recorder::Part::kServer:
      words.note = options.note;
      child.descriptors.push_back(options.listener.socket.get());
      child.descriptors.push_back(folder.get());
      break;
    case recorder::Part::kSupervisor:
      break;
  }
  child.arguments = format_part_words(process.name, words);
  return child;
}

void Supervisor::State::start_due(std::int64_t now_ns) {
  for (PartProcess& process : processes) {
    if (!process.child && now_ns >= process.start_at_ns) start(process, now_ns);
  }
}

void Supervisor::State::start(PartProcess& process, std::int64_t now_ns) {
  auto child = Child::start(child_options(process));
  if (!child) {
    process.start_at_ns = now_ns + process.backoff.next(0);
    base::log(base::LogLevel::kError, child.error().message);
    return;
  }
  process.child = *std::move(child);
  process.started_ns = now_ns;
  process.pid = static_cast<std::uint64_t>(process.child->pid());
  if (process.is_companion) return;
  recorder::PartSlot& slot = file().part(process.part);
  slot.pid.store(process.pid);
  slot.started_ns.store(static_cast<std::uint64_t>(now_ns));
  slot.starts.fetch_add(1);
  log.write({.kind = catalog::EventKind::kPartStarted,
             .code = 0,
             .pid = process.pid,
             .slot = file().slots(catalog::Scope::kPart)[static_cast<unsigned>(process.part)],
             .text = process.name});
}

void Supervisor::State::notice_endings(std::int64_t now_ns) {
  for (PartProcess& process : processes) {
    if (!process.child) continue;
    if (const auto ending = process.child->try_wait()) end(process, *ending, now_ns);
  }
}

void Supervisor::State::end(PartProcess& process, const Ending& ending, std::int64_t now_ns) {
  process.child.reset();
  const std::int64_t wait_ns = process.backoff.next(now_ns - process.started_ns);
  process.start_at_ns = now_ns + wait_ns;
  const std::string line = fmt::format("{}: {}", process.name, ending.text);
  base::log(base::LogLevel::kWarning, fmt::format("{}; starting it again in {:.1f} s", line,
                                                  static_cast<double>(wait_ns) / kSecond));
  if (process.is_companion) return;
  file().part(process.part).pid.store(0);
  log.write({.kind = catalog::EventKind::kPartEnded,
             .code = static_cast<std::uint64_t>(ending.exit_status),
             .pid = process.pid,
             .slot = file().slots(catalog::Scope::kPart)[static_cast<unsigned>(process.part)],
             .text = line});
}

// The server cannot write into the recorder: we say for it that it runs.
void Supervisor::State::say_alive(std::int64_t now_ns) {
  const auto now = static_cast<std::uint64_t>(now_ns);
  file().part(recorder::Part::kSupervisor).heartbeat_ns.store(now);
  for (const PartProcess& process : processes) {
    if (process.part == recorder::Part::kServer && process.child) {
      file().part(process.part).heartbeat_ns.store(now);
    }
  }
}

void Supervisor::State::watch_calls(std::int64_t now_ns) {
  if (!processes[kSamplerIndex].child) return;
  const auto stuck = sampler::find_stuck_calls(file(), now_ns, options.config.deadlines);
  if (stuck.empty()) return;
  const std::vector<std::uint32_t> gpus = file().slots(catalog::Scope::kGpu);
  for (const sampler::StuckCall& call : stuck) {
    const std::string text =
        fmt::format("{} has not returned for {:.1f} s", nvml::call_name(call.call),
                    static_cast<double>(now_ns - call.since_ns) / kSecond);
    base::log(base::LogLevel::kWarning, text);
    const auto place = std::find(gpus.begin(), gpus.end(), call.device);
    if (place == gpus.end()) continue;  // the library's start: it is tried again as a whole
    Fence& fence = fences[static_cast<std::uint32_t>(place - gpus.begin())];
    fence.is_up = true;
    fence.retry_at_ns = now_ns + fence.backoff.next(now_ns - fence.last_retry_ns);
    file().set_status(call.device, recorder::DeviceStatus::kTimedOut, now_ns);
    log.write({.kind = catalog::EventKind::kTimedOut,
               .code = 0,
               .pid = 0,
               .slot = call.device,
               .text = text});
  }
  replace_sampler(now_ns);
  // The thread that left these breadcrumbs is gone with its process.
  for (const sampler::StuckCall& call : stuck) {
    file().device(call.device).call.store(0);
  }
}

void Supervisor::State::retry_fenced(std::int64_t now_ns) {
  bool is_due = false;
  for (auto& [place, fence] : fences) {
    if (!fence.is_up || now_ns < fence.retry_at_ns) continue;
    fence.is_up = false;
    fence.last_retry_ns = now_ns;
    is_due = true;
  }
  if (is_due) replace_sampler(now_ns);
}

void Supervisor::State::replace_sampler(std::int64_t now_ns) {
  PartProcess& process = processes[kSamplerIndex];
  if (!process.child) return;
  process.child->signal(SIGTERM);
  auto ending = process.child->wait_for(kHungStopMs);
  if (!ending) {
    process.child->signal(SIGKILL);
    ending = process.child->wait_for(kStopMs);
  }
  // One that even that does not end never comes back from the kernel: it writes no more.
  end(process, ending.value_or(Ending{.exit_status = 137, .text = "cannot be killed"}), now_ns);
  start(process, base::boottime_ns());
}

// Once, when the GPUs are there, or when it is plain that none comes soon.
void Supervisor::State::announce(std::int64_t now_ns) {
  if (has_announced) return;
  std::map<std::string, unsigned> found;
  unsigned count = 0;
  for (const std::uint32_t slot : file().slots(catalog::Scope::kGpu)) {
    const auto status = static_cast<recorder::DeviceStatus>(file().device(slot).status.load());
    if (status == recorder::DeviceStatus::kOk) ++count;
  }
  const std::size_t expected = std::max<std::size_t>(options.pci_addresses.size(), 1);
  if (count < expected && now_ns - began_ns < 3 * kSecond) return;
  has_announced = true;
  base::log(
      base::LogLevel::kNotice,
      fmt::format("serving {} - {} GPU{}{}, recording in {}",
                  make_url(options.config.listen_address, options.listener.port), count,
                  count == 1 ? "" : "s", options.note.empty() ? "" : " (" + options.note + ")",
                  options.folder.files));
}

// Those that end within the time are forgotten.
void Supervisor::State::wait_for_all(int timeout_ms) {
  const std::int64_t deadline_ns = base::boottime_ns() + timeout_ms * (kSecond / 1000);
  for (PartProcess& process : processes) {
    if (!process.child) continue;
    const std::int64_t left_ms = (deadline_ns - base::boottime_ns()) / (kSecond / 1000);
    if (process.child->wait_for(static_cast<int>(std::max<std::int64_t>(left_ms, 0)))) {
      process.child.reset();
    }
  }
}

void Supervisor::State::stop_all() {
  for (PartProcess& process : processes) {
    if (process.child) process.child->signal(SIGTERM);
  }
  wait_for_all(kStopMs);
  for (PartProcess& process : processes) {
    if (process.child) process.child->signal(SIGKILL);
  }
  wait_for_all(kStopMs);
  for (PartProcess& process : processes) {
    // One that cannot even be killed goes when the kernel lets it, and at the latest with us.
    if (!process.is_companion) file().part(process.part).pid.store(0);
  }
  const auto now = static_cast<std::uint64_t>(base::boottime_ns());
  file().part(recorder::Part::kSupervisor).pid.store(0);
  file().header().closed_ns.store(now);
  options.files.identities->header().closed_ns.store(now);
}

base::Result<std::unique_ptr<Supervisor>> Supervisor::open(SupervisorOptions options) {
  auto log = SupervisorLog::open(*options.files.recorder);
  if (!log) return std::unexpected(log.error());
  auto state = std::make_unique<State>(std::move(options), *std::move(log));
  if (auto prepared = state->prepare(); !prepared) return std::unexpected(prepared.error());
  return std::unique_ptr<Supervisor>(new Supervisor(std::move(state)));
}

Supervisor::Supervisor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Supervisor::~Supervisor() = default;

base::Result<ExitCode> Supervisor::run() {
  State& state = *state_;
  while (true) {
    const std::int64_t now_ns = base::boottime_ns();
    state.notice_endings(now_ns);
    state.start_due(now_ns);
    state.say_alive(now_ns);
    state.watch_calls(now_ns);
    state.retry_fenced(now_ns);
    state.announce(now_ns);
    std::vector<pollfd> waited = {{.fd = state.signals.get(), .events = POLLIN, .revents = 0}};
    for (const PartProcess& process : state.processes) {
      if (process.child)
        waited.push_back({.fd = process.child->fd(), .events = POLLIN, .revents = 0});
    }
    ::poll(waited.data(), waited.size(), state.has_announced ? kTickMs : kTickMs / 10);
    if (waited.front().revents != 0) break;
  }
  state.stop_all();
  return kFine;
}

}  // namespace everywatt::app
