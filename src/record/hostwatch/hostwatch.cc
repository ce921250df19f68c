// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/hostwatch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "device/host/machine.h"
#include "device/host/open_files_limit.h"
#include "record/hostwatch/device_watch.h"
#include "record/hostwatch/kernel_watch.h"
#include "record/hostwatch/machine_watch.h"
#include "record/hostwatch/part_rows.h"
#include "record/hostwatch/sampling_row.h"
#include "record/hostwatch/wall_clock.h"
#include "record/recorder/reader.h"

namespace everywatt::hostwatch {
namespace {

// run() returns within a second of a stop also where the wake-up got lost.
constexpr std::int64_t kLongestWaitNs = 500'000'000;

std::string read_boot_id(const host::Root& root, const recorder::Reader& reader) {
  const auto text = root.read("/proc/sys/kernel/random/boot_id", 64);
  const auto boot_id = text ? host::parse_boot_id(*text)
                            : base::Result<std::string_view>(std::unexpected(text.error()));
  return boot_id ? std::string(*boot_id) : reader.boot_id();
}

// The last sign of life of an earlier process of ours: up to then events were told as they came.
std::int64_t last_heartbeat_ns(recorder::File& file) {
  const recorder::PartSlot& host = file.part(recorder::Part::kHost);
  return static_cast<std::int64_t>(host.heartbeat_ns.load(std::memory_order_acquire));
}

}  // namespace

struct Hostwatch::Parts {
  Parts(Options given, recorder::File& file) : options(std::move(given)), recorder(file) {}

  ProcessRows::Moment moment() const {
    return {.now_ns = options.boottime(), .wall_ns = options.walltime()};
  }

  Options options;
  recorder::File& recorder;
  std::unique_ptr<recorder::Reader> reader;
  Complaints complaints;
  GpuUses uses;
  std::optional<EventWriter> events;
  std::optional<MachineWatch> machine;
  std::optional<DeviceWatch> devices;
  std::optional<ProcessRows> processes;
  std::optional<KernelWatch> kernel;
  std::optional<PartRows> part_rows;
  std::optional<WallClock> wall_clock;
  std::optional<SamplingRow> sampling;
};

Hostwatch::Hostwatch(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Hostwatch::~Hostwatch() = default;

base::Result<std::unique_ptr<Hostwatch>> Hostwatch::open(Options options, recorder::File& recorder,
                                                         recorder::File& identities) {
  auto parts = std::make_unique<Parts>(std::move(options), recorder);
  const host::Root root(parts->options.root);
  auto reader = recorder::Reader::adopt(base::UniqueFd(::fcntl(recorder.fd(), F_DUPFD_CLOEXEC, 0)),
                                        "recorder");
  if (!reader) return std::unexpected(reader.error());
  parts->reader = std::move(*reader);

  auto events = EventWriter::open(recorder);
  if (!events) return std::unexpected(events.error());
  parts->events = std::move(*events);
  auto machine = MachineWatch::open(root, recorder);
  if (!machine) return std::unexpected(machine.error());
  parts->machine = std::move(*machine);
  auto people = Identities::open({.root = root,
                                  .command = parts->options.command,
                                  .labels = parts->options.labels,
                                  .boot_id = read_boot_id(root, *parts->reader)},
                                 identities);
  if (!people) return std::unexpected(people.error());
  auto processes = ProcessRows::open({.root = root,
                                      .max_processes = parts->options.max_processes,
                                      .slow_period_ns = parts->options.slow_period_ns},
                                     recorder, std::move(*people), *parts->events);
  if (!processes) return std::unexpected(processes.error());
  parts->processes.emplace(std::move(*processes));
  auto part_rows = PartRows::open(recorder, identities);
  if (!part_rows) return std::unexpected(part_rows.error());
  parts->part_rows.emplace(std::move(*part_rows));
  auto sampling = SamplingRow::open(recorder);
  if (!sampling) return std::unexpected(sampling.error());
  parts->sampling.emplace(std::move(*sampling));

  parts->devices.emplace(root, recorder, *parts->reader);
  parts->wall_clock.emplace(recorder, identities, *parts->events);
  const std::int64_t since_ns = parts->options.faults_since_ns != 0 ? parts->options.faults_since_ns
                                                                    : last_heartbeat_ns(recorder);
  const std::string& given = parts->options.kernel_log;
  parts->kernel.emplace(KernelWatch::Options{.path = given.empty() ? root.path("/dev/kmsg") : given,
                                             .faults_since_ns = since_ns},
                        *parts->reader, *parts->processes, *parts->events);
  return std::unique_ptr<Hostwatch>(new Hostwatch(std::move(parts)));
}

void Hostwatch::tick() {
  Parts& parts = *parts_;
  const ProcessRows::Moment moment = parts.moment();
  recorder::PartSlot& self = parts.recorder.part(recorder::Part::kHost);
  self.heartbeat_ns.store(static_cast<std::uint64_t>(moment.now_ns), std::memory_order_release);
  parts.wall_clock->tick(moment.now_ns, moment.wall_ns);

  std::int64_t cpu_ns = base::thread_cpu_ns();
  const auto account = [&](catalog::Lane lane) {
    const std::int64_t now_ns = base::thread_cpu_ns();
    parts.sampling->add_cpu(lane, now_ns - cpu_ns);
    cpu_ns = now_ns;
  };
  // Faults first: those that came while we were down are the oldest events to tell.
  parts.kernel->tick(moment, parts.complaints);
  account(catalog::Lane::kEvent);
  parts.processes->tick(moment, parts.uses.read(*parts.reader), parts.machine->forks(),
                        parts.complaints);
  account(catalog::Lane::kHostProcess);
  parts.machine->tick(moment.now_ns, parts.complaints);
  parts.devices->tick(moment.now_ns, parts.complaints);
  account(catalog::Lane::kHost);
  parts.part_rows->tick(moment.now_ns, parts.complaints);
  account(catalog::Lane::kPart);
  parts.sampling->write(moment.now_ns, parts.kernel->lost());
}

void Hostwatch::take_events() {
  Parts& parts = *parts_;
  const ProcessRows::Moment moment = parts.moment();
  parts.kernel->take(moment, parts.complaints);
  parts.processes->take_ends(moment);
}

base::Status Hostwatch::run(std::stop_token stop) {
  Parts& parts = *parts_;
  host::raise_open_files_limit();
  base::UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open()) return base::fail_errno("create", "eventfd");
  const std::stop_callback on_stop(stop, [fd = wake.get()] {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
  });
  recorder::PartSlot& self = parts.recorder.part(recorder::Part::kHost);
  self.started_ns.store(static_cast<std::uint64_t>(parts.options.boottime()),
                        std::memory_order_release);
  self.pid.store(static_cast<std::uint64_t>(::getpid()), std::memory_order_release);

  const std::int64_t period_ns = parts.options.period_ns;
  std::int64_t next_ns = parts.options.boottime();
  std::vector<int> ends;
  std::vector<pollfd> watched;
  while (!stop.stop_requested()) {
    std::int64_t now_ns = parts.options.boottime();
    if (now_ns >= next_ns) {
      const std::int64_t late_ns = now_ns - next_ns;
      const std::int64_t missed = late_ns / period_ns;
      parts.sampling->begin_tick(period_ns, late_ns, static_cast<std::uint64_t>(missed));
      tick();
      next_ns += (missed + 1) * period_ns;
      now_ns = parts.options.boottime();
    }
    ends.clear();
    parts.processes->add_end_fds(ends);
    watched.clear();
    // A descriptor of -1 is passed over.
    watched.push_back({.fd = wake.get(), .events = POLLIN, .revents = 0});
    watched.push_back({.fd = parts.kernel->poll_fd(), .events = POLLIN, .revents = 0});
    for (const int fd : ends)
      watched.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    const std::int64_t wait_ns = std::clamp<std::int64_t>(next_ns - now_ns, 0, kLongestWaitNs);
    const timespec wait{.tv_sec = 0, .tv_nsec = wait_ns};
    const int ready = ::ppoll(watched.data(), watched.size(), &wait, nullptr);
    if (ready > 0 && !stop.stop_requested()) take_events();
  }
  self.pid.store(0, std::memory_order_release);
  return {};
}

base::Status watch_once(Options options, recorder::File& recorder, recorder::File& identities) {
  auto watch = Hostwatch::open(std::move(options), recorder, identities);
  if (!watch) return std::unexpected(watch.error());
  (*watch)->tick();
  return {};
}

}  // namespace everywatt::hostwatch
