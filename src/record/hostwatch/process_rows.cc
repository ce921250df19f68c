// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/process_rows.h"

#include <poll.h>

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "device/host/clock_ticks.h"
#include "device/host/machine.h"
#include "device/host/process_end.h"
#include "record/hostwatch/state_of.h"

namespace everywatt::hostwatch {
namespace {

using catalog::EventKind;
using catalog::MetricId;
using catalog::State;

constexpr std::size_t kMostEnded = 64;
// Rows of one listing; the ring holds some 14000.
constexpr std::size_t kMostRows = 1024;
// A process that is listed and not found has mostly just ended: the next listings will lack it.
constexpr std::int64_t kDoubtNs = 3'000'000'000;
// The letter of proc(5) for a process that is dead, which /proc itself never shows.
constexpr std::uint64_t kNoSuchProcess = 'X';

bool is_readable(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1;
}

// How long a process has run. By the uptime of the same root: a made-up one has a clock of its own.
std::int64_t read_age_ns(const host::Root& root, std::uint64_t start_ticks) {
  const auto text = root.read("/proc/uptime", 64);
  const auto uptime = text ? host::parse_uptime(*text) : base::Result<double>(0.0);
  if (!uptime) return 0;
  const auto uptime_ns = static_cast<std::int64_t>(*uptime * 1e9);
  return std::max<std::int64_t>(0, uptime_ns - host::ticks_to_ns(start_ticks));
}

std::string format_run(std::int64_t run_ns) {
  const std::int64_t seconds = std::max<std::int64_t>(0, run_ns / 1'000'000'000);
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

}  // namespace

ProcessRows::ProcessRows(Options options, recorder::Writer writer, Identities identities,
                         EventWriter& events)
    : options_(std::move(options)),
      writer_(writer),
      identities_(std::move(identities)),
      events_(events),
      limits_(options_.root) {}

base::Result<ProcessRows> ProcessRows::open(Options options, recorder::File& file,
                                            Identities identities, EventWriter& events) {
  const std::uint32_t slot = file.slots(catalog::Scope::kNode).at(0);
  auto writer = file.writer(slot, catalog::Lane::kHostProcess);
  if (!writer) return std::unexpected(writer.error());
  return ProcessRows(std::move(options), *writer, std::move(identities), events);
}

void ProcessRows::tick(const Moment& moment, const std::vector<GpuUse>& uses,
                       std::optional<std::uint64_t> forks, Complaints& complaints) {
  take_ends(moment);
  match(moment, uses, complaints);
  write_rows(moment, forks);
}

void ProcessRows::match(const Moment& moment, const std::vector<GpuUse>& uses,
                        Complaints& complaints) {
  for (auto& [pid, known] : known_) {
    for (OnGpu& gpu : known.gpus)
      gpu.is_listed = false;
  }
  for (const GpuUse& use : uses) {
    Known& known = *find_or_meet(use.pid, moment, complaints);
    if (is_in_doubt(known, moment)) continue;
    auto gpu = std::ranges::find(known.gpus, use.slot, &OnGpu::slot);
    if (gpu == known.gpus.end()) {
      known.gpus.push_back({.slot = use.slot, .peak_bytes = 0, .is_listed = true});
      gpu = std::prev(known.gpus.end());
      if (known.is_new) tell_start(use.pid, known, *gpu, moment);
    }
    gpu->is_listed = true;
    gpu->peak_bytes = std::max(gpu->peak_bytes, use.memory_bytes);
  }
  forget_unlisted(moment);
}

void ProcessRows::forget_unlisted(const Moment& moment) {
  for (auto it = known_.begin(); it != known_.end();) {
    Known& known = it->second;
    std::erase_if(known.gpus, [&](const OnGpu& gpu) {
      if (!gpu.is_listed) tell_end(it->first, known, gpu, moment, "left the GPU");
      return !gpu.is_listed;
    });
    // From now on another GPU of the same process is news, also of one from before our restart.
    known.is_new = true;
    const bool is_over = known.gpus.empty() && !is_in_doubt(known, moment);
    it = is_over ? known_.erase(it) : std::next(it);
  }
}

bool ProcessRows::is_in_doubt(const Known& known, const Moment& moment) {
  return known.missing_ns && moment.now_ns - *known.missing_ns < kDoubtNs;
}

ProcessRows::Known* ProcessRows::find_or_meet(std::uint32_t pid, const Moment& moment,
                                              Complaints& complaints) {
  const auto it = known_.find(pid);
  if (it == known_.end()) {
    return &known_.emplace(pid, meet(pid, moment, complaints)).first->second;
  }
  Known& known = it->second;
  if (known.watch != nullptr) return &known;
  // The driver names it although it was not found: by now it may be there, or be another one.
  Known met = meet(pid, moment, complaints);
  if (met.watch != nullptr) {
    met.gpus = std::move(known.gpus);
    known = std::move(met);
  }
  return &known;
}

ProcessRows::Known ProcessRows::meet(std::uint32_t pid, const Moment& moment,
                                     Complaints& complaints) {
  Known known;
  known.start_ns = moment.now_ns;
  known.order = seen_++;
  const auto sight = identities_.capture(pid, moment.now_ns, moment.wall_ns);
  if (sight) {
    known.key = sight->key;
    known.is_new = !sight->is_from_before;
    known.watch = std::make_unique<ProcessWatch>(options_.root, pid, sight->start_ticks);
    known.start_ns -= read_age_ns(options_.root, sight->start_ticks);
    return known;
  }
  known.is_new = true;
  known.reason = state_of(sight.error().code);
  if (sight.error().code != base::Code::kNotFound) return known;
  if (!host::exists_hidden(options_.root, pid)) {
    known.reason = State::kLost;
    known.missing_ns = moment.now_ns;
    return known;
  }
  // /proc may be mounted so that it hides other users' processes.
  known.reason = State::kNoPermission;
  complaints.failed("processes of other users",
                    {.code = base::Code::kNoPermission,
                     .message = "hidden by the mount of /proc (hidepid)",
                     .hint = {}});
  return known;
}

void ProcessRows::tell_start(std::uint32_t pid, const Known& known, const OnGpu& gpu,
                             const Moment& moment) {
  const std::string text = known.watch != nullptr
                               ? fmt::format("process {} appeared on the GPU", pid)
                               : fmt::format("process {} is on the GPU and not in /proc", pid);
  events_.write({.kind = EventKind::kProcessStart,
                 .code = {},
                 .device = gpu.slot,
                 .pid = pid,
                 .identity = known.key != 0 ? std::optional(known.key) : std::nullopt,
                 .wall_ns = moment.wall_ns,
                 .text = text},
                moment.now_ns);
}

void ProcessRows::tell_end(std::uint32_t pid, const Known& known, const OnGpu& gpu,
                           const Moment& moment, std::string_view how) {
  std::string text =
      fmt::format("process {} {} after {}", pid, how, format_run(moment.now_ns - known.start_ns));
  if (gpu.peak_bytes > 0) {
    text += fmt::format(", at most {:.1f} GiB of its memory",
                        static_cast<double>(gpu.peak_bytes) / (1 << 30));
  }
  events_.write({.kind = EventKind::kProcessEnd,
                 .code = {},
                 .device = gpu.slot,
                 .pid = pid,
                 .identity = known.key != 0 ? std::optional(known.key) : std::nullopt,
                 .wall_ns = moment.wall_ns,
                 .text = text},
                moment.now_ns);
}

void ProcessRows::end(std::map<std::uint32_t, Known>::iterator it, const Moment& moment) {
  Known& known = it->second;
  for (const OnGpu& gpu : known.gpus)
    tell_end(it->first, known, gpu, moment, "ended");
  if (ended_.size() == kMostEnded) ended_.erase(ended_.begin());
  ended_.push_back({.pid = it->first, .key = known.key});
  // A listing from before the end still names it. Should the driver go on to do so, it is a process
  // that cannot be found.
  known.watch.reset();
  known.key = 0;
  known.reason = State::kLost;
  known.start_ns = moment.now_ns;
  known.missing_ns = moment.now_ns;
  known.gpus.clear();
}

void ProcessRows::take_ends(const Moment& moment) {
  for (auto it = known_.begin(); it != known_.end(); ++it) {
    const bool has_ended = it->second.watch != nullptr && it->second.watch->end_fd() >= 0 &&
                           is_readable(it->second.watch->end_fd());
    if (has_ended) end(it, moment);
  }
}

void ProcessRows::add_end_fds(std::vector<int>& fds) const {
  for (const auto& [pid, known] : known_) {
    if (known.watch != nullptr && known.watch->end_fd() >= 0) fds.push_back(known.watch->end_fd());
  }
}

std::optional<ProcessRows::Owner> ProcessRows::find_owner(std::uint32_t pid) const {
  const auto direct = known_.find(pid);
  if (direct != known_.end() && direct->second.key != 0) return Owner{.key = direct->second.key};
  for (const auto& [main, known] : known_) {
    if (known.watch != nullptr && known.watch->has_child(pid)) {
      return Owner{.key = known.key, .is_child = true};
    }
  }
  const auto ended = std::ranges::find(ended_.rbegin(), ended_.rend(), pid, &Ended::pid);
  if (ended != ended_.rend() && ended->key != 0) return Owner{.key = ended->key};
  return std::nullopt;
}

std::optional<std::uint64_t> ProcessRows::look_at(std::uint32_t pid, const Moment& moment) {
  if (const auto owner = find_owner(pid)) return owner->key;
  const auto sight = identities_.capture(pid, moment.now_ns, moment.wall_ns);
  return sight ? std::optional(sight->key) : std::nullopt;
}

void ProcessRows::write_rows(const Moment& moment, std::optional<std::uint64_t> forks) {
  limits_.begin_tick();
  row_count_ = 0;
  std::vector<std::map<std::uint32_t, Known>::iterator> order;
  for (auto it = known_.begin(); it != known_.end(); ++it) {
    if (!it->second.gpus.empty()) order.push_back(it);
  }
  std::ranges::sort(order, {}, [](const auto& it) { return it->second.order; });
  std::size_t place = 0;
  for (const auto& it : order) {
    if (row_count_ == kMostRows) break;
    Known& known = it->second;
    if (row_count_ == rows_.size()) {
      rows_.emplace_back(catalog::Scope::kNode, catalog::Lane::kHostProcess);
    }
    catalog::Row& row = rows_[row_count_];
    row.clear();
    row.time_ns = moment.now_ns;
    // Beyond the first ones a row tells between its readings only that the process is there.
    const bool is_slow = place++ >= options_.max_processes;
    const bool is_due = !is_slow || moment.now_ns >= known.next_read_ns;
    if (is_due) {
      known.next_read_ns = moment.now_ns + options_.slow_period_ns;
      if (!fill_row(known, moment, forks)) {
        end(it, moment);
        continue;
      }
    }
    row.set(MetricId::host_process_pid, std::uint64_t{it->first});
    if (known.key != 0) row.set(MetricId::host_process_identity, known.key);
    ++row_count_;
  }
  append_rows(moment.now_ns);
}

bool ProcessRows::fill_row(Known& known, const Moment& moment, std::optional<std::uint64_t> forks) {
  catalog::Row& row = rows_[row_count_];
  if (known.watch == nullptr) {
    row.set_all_absent(known.reason);
    if (known.reason == State::kLost) row.set(MetricId::host_process_state, kNoSuchProcess);
    return true;
  }
  identities_.keep(known.key);
  return known.watch->read({.now_ns = moment.now_ns, .forks = forks, .limits = limits_}, row);
}

void ProcessRows::append_rows(std::int64_t now_ns) {
  if (rows_.empty()) rows_.emplace_back(catalog::Scope::kNode, catalog::Lane::kHostProcess);
  // A listing without processes is one row that says so.
  if (row_count_ == 0) {
    rows_[0].clear();
    rows_[0].time_ns = now_ns;
  }
  for (std::size_t i = 0; i < std::max<std::size_t>(row_count_, 1); ++i) {
    catalog::Row& row = rows_[i];
    row.set(MetricId::host_process_index, std::uint64_t{i});
    row.set(MetricId::host_process_count, std::uint64_t{row_count_});
    writer_.append(row);
  }
}

}  // namespace everywatt::hostwatch
