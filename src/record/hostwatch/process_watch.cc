// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/process_watch.h"

#include <unistd.h>

#include <algorithm>

#include "device/host/cgroup.h"
#include "device/host/children.h"
#include "device/host/clock_ticks.h"
#include "device/host/process_end.h"
#include "device/host/process_io.h"
#include "device/host/process_line.h"
#include "device/host/process_status.h"
#include "device/host/shared_memory.h"
#include "record/hostwatch/state_of.h"

namespace everywatt::hostwatch {
namespace {

using catalog::MetricId;
using catalog::State;

// A walk over 150 threads takes 0.6 ms, and a busy machine makes processes all the time. What a
// child used before it was found is counted then.
constexpr std::int64_t kFindChildrenNs = 5'000'000'000;
constexpr std::int64_t kSlowPeriodNs = 10'000'000'000;
constexpr std::size_t kMostChildren = 1024;

std::string folder(std::uint32_t pid) {
  return "/proc/" + std::to_string(pid);
}

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

template <typename T>
void put(catalog::Row& row, MetricId metric, std::optional<T> value, State otherwise) {
  if (value) {
    row.set(metric, *value);
  } else {
    row.set_absent(metric, otherwise);
  }
}

}  // namespace

ProcessWatch::ProcessWatch(const host::Root& root, std::uint32_t pid, std::uint64_t start_ticks)
    : root_(root),
      pid_(pid),
      start_ticks_(start_ticks),
      line_(root, folder(pid) + "/stat"),
      io_(root, folder(pid) + "/io") {
  auto end = host::open_process_end(root, pid);
  if (end) end_ = std::move(*end);
}

bool ProcessWatch::has_child(std::uint32_t pid) const {
  return std::ranges::any_of(children_, [&](const auto& child) { return child.pid == pid; });
}

bool ProcessWatch::read(const Tick& tick, catalog::Row& row) {
  const auto text = line_.read();
  // Anything else than its end (a file that a player is just writing) is the matter of this tick.
  if (!text && text.error().code == base::Code::kNotFound) return false;
  const auto line = text ? host::parse_process_line(*text)
                         : base::Result<host::ProcessLine>(std::unexpected(text.error()));
  if (!line) {
    row.set_absent(MetricId::host_process_state, state_of(line.error().code));
    return true;
  }
  if (line->start_ticks != start_ticks_) return false;
  ProcessUse main{.key = start_ticks_,
                  .cpu_seconds = line->user_seconds + line->system_seconds,
                  .ended_children_seconds = line->ended_children_seconds,
                  .read_bytes = {},
                  .written_bytes = {}};
  row.set(MetricId::host_process_state, std::uint64_t{static_cast<unsigned char>(line->state)});
  row.set(MetricId::host_process_start_seconds, host::ticks_to_seconds(start_ticks_));
  row.set(MetricId::host_process_threads, std::uint64_t{line->threads});
  row.set(MetricId::host_process_resident_bytes, line->resident_pages * page_bytes());
  State io_state = State::kOk;
  read_io(io_, main, io_state);
  find_children(tick.now_ns, tick.forks);
  child_uses_.clear();
  const ChildrenSum sum = read_children(child_uses_);
  use_.advance(main, child_uses_);
  row.set(MetricId::host_process_children, sum.count);
  row.set(MetricId::host_process_children_threads, sum.threads);
  row.set(MetricId::host_process_children_resident_bytes, sum.resident_bytes);
  put_use(io_state, row);
  read_slow(tick.now_ns, row);
  read_limits(tick.limits, row);
  return true;
}

void ProcessWatch::read_io(host::OpenFile& io, ProcessUse& use, State& state) {
  const auto text = io.read();
  const auto bytes = text ? host::parse_process_io(*text)
                          : base::Result<host::ProcessIo>(std::unexpected(text.error()));
  if (!bytes) {
    state = state_of(bytes.error().code);
    return;
  }
  use.read_bytes = bytes->read_bytes;
  use.written_bytes = bytes->written_bytes;
}

void ProcessWatch::put_use(State io_state, catalog::Row& row) const {
  row.set(MetricId::host_process_cpu_seconds_total, use_.main_cpu_seconds());
  row.set(MetricId::host_process_children_cpu_seconds_total, use_.children_cpu_seconds());
  const bool can_read = io_state == State::kOk;
  const auto put_bytes = [&](MetricId metric, std::optional<std::uint64_t> bytes) {
    put(row, metric, can_read ? bytes : std::nullopt, can_read ? State::kFailed : io_state);
  };
  put_bytes(MetricId::host_process_read_bytes_total, use_.main_read_bytes());
  put_bytes(MetricId::host_process_written_bytes_total, use_.main_written_bytes());
  put_bytes(MetricId::host_process_children_read_bytes_total, use_.children_read_bytes());
  put_bytes(MetricId::host_process_children_written_bytes_total, use_.children_written_bytes());
}

void ProcessWatch::find_children(std::int64_t now_ns, std::optional<std::uint64_t> forks) {
  const bool has_looked = children_found_ns_.has_value();
  if (has_looked && forks && forks == forks_) return;
  if (has_looked && now_ns - *children_found_ns_ < kFindChildrenNs) return;
  children_found_ns_ = now_ns;
  forks_ = forks;
  for (const std::uint32_t pid : host::list_descendants(root_, pid_, kMostChildren)) {
    if (has_child(pid)) continue;
    children_.push_back({.pid = pid,
                         .start_ticks = 0,
                         .line = host::OpenFile(root_, folder(pid) + "/stat"),
                         .io = host::OpenFile(root_, folder(pid) + "/io"),
                         .use = {},
                         .threads = 0,
                         .resident_bytes = 0});
  }
}

ProcessWatch::ChildrenSum ProcessWatch::read_children(std::vector<ProcessUse>& uses) {
  ChildrenSum sum;
  std::erase_if(children_, [&](Child& child) {
    const auto text = child.line.read();
    const auto line = text ? host::parse_process_line(*text)
                           : base::Result<host::ProcessLine>(std::unexpected(text.error()));
    // Only what ended is let go: lists of children are read seldom. Until it can be read again it
    // counts as it was.
    if (!text && text.error().code != base::Code::kNotFound) {
      if (child.start_ticks == 0) return true;
      uses.push_back(child.use);
      sum.count += 1;
      sum.threads += child.threads;
      sum.resident_bytes += child.resident_bytes;
      return false;
    }
    if (!line) return true;
    if (child.start_ticks == 0) child.start_ticks = line->start_ticks;
    if (child.start_ticks != line->start_ticks) return true;
    ProcessUse use{.key = (std::uint64_t{child.pid} << 32) ^ line->start_ticks,
                   .cpu_seconds = line->user_seconds + line->system_seconds,
                   .ended_children_seconds = line->ended_children_seconds,
                   .read_bytes = {},
                   .written_bytes = {}};
    State io_state = State::kOk;
    read_io(child.io, use, io_state);
    child.use = use;
    child.threads = line->threads;
    child.resident_bytes = line->resident_pages * page_bytes();
    uses.push_back(use);
    sum.count += 1;
    sum.threads += child.threads;
    sum.resident_bytes += child.resident_bytes;
    return false;
  });
  return sum;
}

void ProcessWatch::read_slow(std::int64_t now_ns, catalog::Row& row) {
  if (slow_read_ns_ && now_ns - *slow_read_ns_ < kSlowPeriodNs) return;
  slow_read_ns_ = now_ns;
  // A process may be moved to another group.
  groups_ = root_.read(folder(pid_) + "/cgroup").value_or("");
  const auto text = root_.read(folder(pid_) + "/status");
  const auto status = text ? host::parse_process_status(*text)
                           : base::Result<host::ProcessStatus>(std::unexpected(text.error()));
  const auto cpus = status ? host::count_cpus(status->allowed_cpus) : std::nullopt;
  put(row, MetricId::host_process_allowed_cpus,
      cpus ? std::optional<std::uint64_t>(*cpus) : std::nullopt,
      status ? State::kNotSupported : state_of(status.error().code));
  read_shared_memory(row);
}

void ProcessWatch::read_limits(GroupLimits& group_limits, catalog::Row& row) {
  const host::CgroupLimits& limits = group_limits.read(groups_);
  const State reason = limits.failure ? state_of(*limits.failure) : State::kNotSupported;
  put(row, MetricId::host_process_cgroup_cpu_quota_cores, limits.cpu_quota_cores, reason);
  put(row, MetricId::host_process_cgroup_throttled_seconds_total, limits.throttled_seconds, reason);
  put(row, MetricId::host_process_cgroup_memory_limit_bytes, limits.memory_limit_bytes, reason);
  put(row, MetricId::host_process_cgroup_memory_used_bytes, limits.memory_bytes, reason);
  put(row, MetricId::host_process_cgroup_memory_limit_hits_total, limits.memory_limit_events,
      reason);
  put(row, MetricId::host_process_cgroup_oom_kills_total, limits.out_of_memory_kills, reason);
}

void ProcessWatch::read_shared_memory(catalog::Row& row) {
  const auto shared = host::read_shared_memory(root_, pid_);
  if (shared) {
    row.set(MetricId::host_process_shm_size_bytes, shared->size_bytes);
    row.set(MetricId::host_process_shm_used_bytes, shared->used_bytes);
  } else {
    row.set_absent(MetricId::host_process_shm_size_bytes, state_of(shared.error().code));
    row.set_absent(MetricId::host_process_shm_used_bytes, state_of(shared.error().code));
  }
}

}  // namespace everywatt::hostwatch
