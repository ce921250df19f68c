// SPDX-License-Identifier: Apache-2.0
#include "app/part.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "app/child.h"
#include "app/counters_choice.h"
#include "app/gpu_bus.h"
#include "app/own_reading.h"
#include "app/rights.h"
#include "app/rights_filter.h"
#include "app/run_folder.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "device/host/open_files_limit.h"
#include "device/host/root.h"
#include "serve/web/server.h"

namespace everywatt::app {
namespace {

constexpr int kSettingsFd = kFirstChildFd;
constexpr int kHeartbeatMs = 500;

// Once: nobody needs the descriptor any more.
base::Result<Config> read_settings() {
  ConfigReading reading;
  reading.config = default_config();
  const base::UniqueFd settings(kSettingsFd);
  const auto text = base::read_file(fmt::format("/proc/self/fd/{}", settings.get()));
  if (!text) return std::unexpected(text.error());
  read_config_text(*text, "settings", Language::kEn, reading);
  if (!reading.faults.empty()) {
    return base::fail(base::Code::kInvalidArgument, reading.faults.front());
  }
  base::set_log_level(reading.config.log_level);
  return reading.config;
}

// Runs `work` on a thread of its own until SIGTERM or until it ends by itself, which is an error;
// meanwhile says in `slot` that this process lives.
base::Result<ExitCode> work_until_stopped(
    recorder::PartSlot* slot, const std::function<base::Status(const std::stop_token&)>& work) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  // Before the thread starts, which inherits it.
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  base::UniqueFd stop_fd(::signalfd(-1, &signals, SFD_CLOEXEC));
  base::UniqueFd ended_fd(::eventfd(0, EFD_CLOEXEC));
  if (!stop_fd.is_open() || !ended_fd.is_open()) return base::fail_errno("wait for", "signals");
  base::Status outcome;
  std::jthread worker([&](const std::stop_token& stop) {
    outcome = work(stop);
    ::eventfd_write(ended_fd.get(), 1);
  });
  pollfd waited[] = {{.fd = stop_fd.get(), .events = POLLIN, .revents = 0},
                     {.fd = ended_fd.get(), .events = POLLIN, .revents = 0}};
  while (waited[0].revents == 0 && waited[1].revents == 0) {
    if (slot != nullptr) {
      slot->heartbeat_ns.store(static_cast<std::uint64_t>(base::boottime_ns()));
    }
    ::poll(waited, 2, kHeartbeatMs);
  }
  worker.request_stop();
  worker.join();
  if (!outcome) return std::unexpected(outcome.error());
  return kFine;
}

base::Result<std::unique_ptr<recorder::File>> adopt_file(int place) {
  return recorder::File::adopt(base::UniqueFd(kFirstChildFd + place));
}

base::Result<ExitCode> run_sampler(const Config& config, const PartWords& words) {
  auto recorder = adopt_file(1);
  if (!recorder) return std::unexpected(recorder.error());
  prefer_sampler();
  if (auto dropped = drop_sampler_rights(); !dropped) return std::unexpected(dropped.error());
  sampler::Options options = sampler_options(config, words.pci_addresses);
  options.fenced = words.fenced;
  options.has_events = words.has_events;
  const auto bus = std::make_shared<GpuBus>(host::Root(config.host_root));
  options.list_gpus = [bus] { return bus->list(); };
  using NoSlot = sampler::Options::NoSlot;
  options.no_slot = words.has_fixed_slots ? NoSlot::kLeaveUnread : NoSlot::kEnd;
  auto sampler = sampler::Sampler::open(options, **recorder);
  if (!sampler) return std::unexpected(sampler.error());
  auto how = sampler::Sampler::Ended::kStopped;
  const auto ended = work_until_stopped(&(*recorder)->part(recorder::Part::kSampler),
                                        [&](const std::stop_token& stop) -> base::Status {
                                          how = (*sampler)->run(stop);
                                          return {};
                                        });
  if (ended && how == sampler::Sampler::Ended::kNoSlotLeft) {
    return static_cast<ExitCode>(kNoSlotLeft);
  }
  return ended;
}

base::Result<ExitCode> run_host(const Config& config) {
  auto recorder = adopt_file(1);
  if (!recorder) return std::unexpected(recorder.error());
  auto identities = adopt_file(2);
  if (!identities) return std::unexpected(identities.error());
  if (auto dropped = drop_host_rights(); !dropped) return std::unexpected(dropped.error());
  auto hostwatch = hostwatch::Hostwatch::open(hostwatch_options(config), **recorder, **identities);
  if (!hostwatch) return std::unexpected(hostwatch.error());
  return work_until_stopped(
      &(*recorder)->part(recorder::Part::kHost),
      [&hostwatch](const std::stop_token& stop) { return (*hostwatch)->run(stop); });
}

std::string host_name(const Config& config) {
  const auto name = host::Root(config.host_root).read("/proc/sys/kernel/hostname");
  if (name) return std::string(base::trim(*name));
  std::array<char, 256> own{};
  return ::gethostname(own.data(), own.size() - 1) == 0 ? own.data() : "";
}

// As many connections as were asked for and as there can be descriptors for.
web::Limits server_limits(const Config& config) {
  constexpr rlim_t kOthers = 64;  // the recorder, its successor, and what waits for them all
  host::raise_open_files_limit();
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const auto milliseconds = [](std::int64_t ns) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(ns));
  };
  web::Limits limits;
  limits.connections =
      std::min<std::size_t>(config.connections, std::max(files.rlim_cur, 2 * kOthers) - kOthers);
  limits.request = milliseconds(config.request_ns);
  limits.idle = milliseconds(config.idle_ns);
  limits.answer = milliseconds(config.answer_ns);
  return limits;
}

base::Result<ExitCode> run_server(const Config& config, const PartWords& words) {
  // While the operator's files can be read.
  auto counters = choose_counters(config);
  if (auto dropped = drop_server_rights(); !dropped) return std::unexpected(dropped.error());
  // The change of user has made the kernel forget it.
  if (!die_with_parent(words.parent)) return kUnavailable;
  web::Options options;
  options.address = config.listen_address;
  options.port = config.listen_port;
  options.listener = base::UniqueFd(kFirstChildFd + 1);
  options.host_names = config.host_names;
  options.limits = server_limits(config);
  // Through the descriptor: the folder's parents may be closed to the server's user.
  const std::string folder = fmt::format("/proc/self/fd/{}", kFirstChildFd + 2);
  options.recorder_path = fmt::format("{}/{}", folder, kRecorderName);
  options.identities_path = fmt::format("{}/{}", folder, kIdentitiesName);
  options.names = config.names;
  options.exporter.hostname = host_name(config);
  options.exporter.processes_a_gpu = config.processes_a_gpu;
  // The start of `serve` has told of what is wrong in it.
  if (counters) {
    options.exporter.counters = std::move(counters->counters);
  } else {
    base::log(base::LogLevel::kWarning,
              counters.error().message + ": all of DCGM's names are served");
  }
  options.note = words.note;
  if (words.has_marks) {
    options.journal = {.socket = base::UniqueFd(kFirstChildFd + 3),
                       .file = base::UniqueFd(kFirstChildFd + 4)};
  }
  auto server = web::Server::open(std::move(options));
  if (!server) return std::unexpected(server.error());
  return work_until_stopped(nullptr, [&server](const std::stop_token& stop) -> base::Status {
    // A kernel that has no such filters still has a server without rights.
    if (auto forbidden = forbid_system_calls_of_server(); !forbidden) {
      base::log(base::LogLevel::kWarning, forbidden.error().message);
    }
    return (*server)->run(stop);
  });
}

}  // namespace

base::Result<ExitCode> run_part(const std::vector<std::string>& words) {
  const std::string name = words.empty() ? "" : words.front();
  const auto parsed = parse_part_words({words.begin() + (words.empty() ? 0 : 1), words.end()});
  if (!parsed) return std::unexpected(parsed.error());
  base::set_log_role(name);
  ::prctl(PR_SET_NAME, ("everywatt-" + name).c_str());  // as top shows it, cut to 15 bytes
  const auto config = read_settings();
  if (!config) return std::unexpected(config.error());
  base::Result<ExitCode> ended =
      base::fail(base::Code::kInvalidArgument, fmt::format("no part '{}'", name));
  if (!die_with_parent(parsed->parent)) return kUnavailable;
  if (name == kSamplerPart) ended = run_sampler(*config, *parsed);
  if (name == kHostPart) ended = run_host(*config);
  if (name == kServerPart) ended = run_server(*config, *parsed);
  return ended;
}

}  // namespace everywatt::app
