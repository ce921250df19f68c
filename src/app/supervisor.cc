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
#include <optional>

#include "app/backoff.h"
#include "app/child.h"
#include "app/part.h"
#include "app/repeats.h"
#include "app/sampler_keeper.h"
#include "app/stop_signals.h"
#include "app/supervisor_log.h"
#include "base/clock.h"
#include "base/log.h"

namespace everywatt::app {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr int kTickMs = 250;
// What the parts together may take to end in good order before they are killed, and to be gone
// then: less than the five seconds in which everything must be over.
constexpr int kStopMs = 2000;
constexpr int kKilledMs = 1500;
constexpr int kHostStopMs = 500;
// A GPU whose call hung is left alone for so many times what a lost one is.
constexpr std::int64_t kFenceRetries = 15;

// One of our processes but the sampler, running or to be started again.
struct PartProcess {
  std::string name;
  recorder::Part part{};
  bool is_companion = false;
  std::optional<Child> child = {};
  std::uint64_t pid = 0;  // of the last one started
  std::int64_t started_ns = 0;
  std::int64_t start_at_ns = 0;
  Backoff backoff = backoff_of_part();
  Repeats repeats = {};
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
  std::optional<SamplerKeeper> sampler;
  bool has_announced = false;
  std::int64_t began_ns = base::boottime_ns();

  recorder::File& file() { return *options.files.recorder; }

  base::Status prepare();
  ChildOptions child_options(const PartProcess& process);
  ChildOptions sampler_options(const SamplerOrders& orders);
  void start_due(std::int64_t now_ns);
  void start(PartProcess& process, std::int64_t now_ns);
  void notice_endings(std::int64_t now_ns);
  void end(PartProcess& process, const Ending& ending, std::int64_t now_ns);
  void say_alive(std::int64_t now_ns);
  void take_orders(std::int64_t now_ns);
  ControlReply carry_out(ControlVerb verb);
  void grow_recorder();
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
  processes.push_back({.name = std::string(kHostPart), .part = recorder::Part::kHost});
  processes.push_back({.name = std::string(kServerPart), .part = recorder::Part::kServer});
  if (options.companion) {
    processes.push_back(
        {.name = "player", .part = recorder::Part::kSupervisor, .is_companion = true});
  }
  sampler.emplace(SamplerKeeper::Options{.file = &file(),
                                         .log = &log,
                                         .deadlines = options.config.deadlines,
                                         .first_fence_ns = kFenceRetries * options.config.retry_ns,
                                         .start = [this](const SamplerOrders& orders) {
                                           return ChildProcess::start(sampler_options(orders));
                                         }});
  recorder::PartSlot& own = file().part(recorder::Part::kSupervisor);
  own.pid.store(static_cast<std::uint64_t>(::getpid()));
  own.started_ns.store(static_cast<std::uint64_t>(began_ns));
  own.starts.fetch_add(1);
  return {};
}

ChildOptions Supervisor::State::child_options(const PartProcess& process) {
  ChildOptions child;
  if (process.is_companion) {
    child.program = options.companion->program;
    child.arguments = options.companion->arguments;
    return child;
  }
  PartWords words{.parent = ::getpid()};
  child.descriptors = {settings.get()};
  switch (process.part) {
    case recorder::Part::kHost:
      child.descriptors.push_back(options.files.recorder->fd());
      child.descriptors.push_back(options.files.identities->fd());
      break;
    case recorder::Part::kServer:
      words.note = options.note;
      child.descriptors.push_back(options.listener.socket.get());
      child.descriptors.push_back(folder.get());
      if (options.marks) {
        words.has_marks = true;
        child.descriptors.push_back(options.marks->socket());
        child.descriptors.push_back(options.marks->journal().fd());
      }
      break;
    case recorder::Part::kSupervisor:
    case recorder::Part::kSampler:
      break;
  }
  child.arguments = format_part_words(process.name, words);
  return child;
}

ChildOptions Supervisor::State::sampler_options(const SamplerOrders& orders) {
  PartWords words{.parent = ::getpid(), .pci_addresses = options.pci_addresses};
  const std::vector<std::uint32_t> gpus = file().slots(catalog::Scope::kGpu);
  for (const std::uint32_t slot : orders.fenced) {
    const auto place = std::ranges::find(gpus, slot);
    if (place != gpus.end())
      words.fenced.push_back(static_cast<std::uint32_t>(place - gpus.begin()));
  }
  words.has_events = orders.has_events;
  words.has_fixed_slots = orders.has_fixed_slots;
  return {.arguments = format_part_words(kSamplerPart, words),
          .descriptors = {settings.get(), options.files.recorder->fd()},
          .environment = options.sampler_environment};
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
    if (const auto told = process.repeats.say(child.error().message, now_ns)) {
      base::log(base::LogLevel::kError, *told);
    }
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
  if (const auto told = process.repeats.say(line, now_ns)) {
    base::log(base::LogLevel::kWarning, fmt::format("{}; starting it again in {:.1f} s", *told,
                                                    static_cast<double>(wait_ns) / kSecond));
  }
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

void Supervisor::State::take_orders(std::int64_t now_ns) {
  if (!options.control) return;
  options.control->serve(now_ns, [this](ControlVerb verb) { return carry_out(verb); });
}

ControlReply Supervisor::State::carry_out(ControlVerb verb) {
  const bool was_drained = sampler->is_drained();
  if (verb == ControlVerb::kResume) {
    sampler->resume();
    return make_reply(was_drained ? ControlStatus::kDone : ControlStatus::kAlready, "");
  }
  const base::Status drained = sampler->drain();
  if (!drained) {
    const base::Error& error = drained.error();
    return make_reply(ControlStatus::kFailed, fmt::format("{}; {}", error.message, error.hint));
  }
  return make_reply(was_drained ? ControlStatus::kAlready : ControlStatus::kDone, "");
}

// For a GPU without a slot. The sampler has ended; the host process must, for it writes too.
void Supervisor::State::grow_recorder() {
  for (PartProcess& process : processes) {
    if (process.part != recorder::Part::kHost || !process.child) continue;
    process.child->signal(SIGTERM);
    auto ending = process.child->wait_for(kHostStopMs);
    if (!ending) {
      process.child->signal(SIGKILL);
      ending = process.child->wait_for(kKilledMs);
    }
    end(process, ending.value_or(Ending{.exit_status = 137, .text = "cannot be killed"}),
        base::boottime_ns());
    process.start_at_ns = 0;
  }
  const auto old_gpus = file().slots(catalog::Scope::kGpu).size();
  if (auto grown = app::grow_recorder(options.folder.files, options.files); !grown) {
    base::log(base::LogLevel::kError,
              fmt::format("no larger recorder for a new GPU: {}", grown.error().message));
    return sampler->continue_on(file(), SamplerKeeper::Slots::kFixed);
  }
  // The writer of the old file's ring must not be used any more.
  if (auto opened = SupervisorLog::open(file())) log = *std::move(opened);
  const auto nodes = file().slots(catalog::Scope::kNode);
  log.write({.kind = catalog::EventKind::kRecorderReplaced,
             .code = 0,
             .pid = 0,
             .slot = nodes.empty() ? 0 : nodes.front(),
             .text = fmt::format("a larger recorder, for {} GPUs instead of {}",
                                 file().slots(catalog::Scope::kGpu).size(), old_gpus)});
  sampler->continue_on(file(), SamplerKeeper::Slots::kMore);
}

// Once, when the GPUs are there, or when it is plain that none comes soon.
void Supervisor::State::announce(std::int64_t now_ns) {
  if (has_announced) return;
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
  const std::int64_t left_ms = (deadline_ns - base::boottime_ns()) / (kSecond / 1000);
  sampler->wait_for_end(static_cast<int>(std::max<std::int64_t>(left_ms, 0)));
}

void Supervisor::State::stop_all() {
  sampler->ask_to_end();
  for (PartProcess& process : processes) {
    if (process.child) process.child->signal(SIGTERM);
  }
  wait_for_all(kStopMs);
  sampler->kill();
  for (PartProcess& process : processes) {
    if (process.child) process.child->signal(SIGKILL);
  }
  wait_for_all(kKilledMs);
  for (PartProcess& process : processes) {
    // One that cannot even be killed goes when the kernel lets it, and at the latest with us.
    if (!process.is_companion) file().part(process.part).pid.store(0);
  }
  const auto now = static_cast<std::uint64_t>(base::boottime_ns());
  file().part(recorder::Part::kSampler).pid.store(0);
  file().part(recorder::Part::kSupervisor).pid.store(0);
  file().header().closed_ns.store(now);
  options.files.identities->header().closed_ns.store(now);
  if (options.marks) options.marks->journal().header().closed_ns.store(now);
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

base::Status Supervisor::drain() {
  return state_->sampler->drain();
}

void Supervisor::resume() {
  state_->sampler->resume();
}

base::Result<ExitCode> Supervisor::run() {
  State& state = *state_;
  while (true) {
    const std::int64_t now_ns = base::boottime_ns();
    state.notice_endings(now_ns);
    state.start_due(now_ns);
    state.say_alive(now_ns);
    state.sampler->tick();
    if (state.sampler->needs_slots()) state.grow_recorder();
    state.take_orders(now_ns);
    state.announce(now_ns);
    std::vector<pollfd> waited = {{.fd = state.signals.get(), .events = POLLIN, .revents = 0}};
    if (const Process* sampler = state.sampler->process()) {
      waited.push_back({.fd = sampler->fd(), .events = POLLIN, .revents = 0});
    }
    for (const PartProcess& process : state.processes) {
      if (process.child)
        waited.push_back({.fd = process.child->fd(), .events = POLLIN, .revents = 0});
    }
    if (state.options.control) state.options.control->add_to(waited);
    ::poll(waited.data(), waited.size(), state.has_announced ? kTickMs : kTickMs / 10);
    if (waited.front().revents != 0) break;
  }
  state.stop_all();
  return kFine;
}

}  // namespace everywatt::app
