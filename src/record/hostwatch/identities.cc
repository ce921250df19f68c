// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/identities.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "device/host/cgroup.h"
#include "device/host/clock_ticks.h"
#include "device/host/container.h"
#include "device/host/identity_key.h"
#include "device/host/labels.h"
#include "device/host/process_line.h"
#include "device/host/process_status.h"
#include "device/host/users.h"
#include "record/hostwatch/state_of.h"
#include "record/recorder/reader.h"

namespace everywatt::hostwatch {
namespace {

using catalog::MetricId;

constexpr std::size_t kCgroupBytes = 256;  // what its column holds
constexpr std::size_t kEnvironmentBytes = 1u << 20;
// Processes whose rows are kept for keep(); far more than can use the GPUs of a machine at once.
constexpr std::size_t kMostWritten = 4096;

void put_text(catalog::Row& row, MetricId metric, std::string_view text) {
  if (text.empty()) {
    row.set_absent(metric, catalog::State::kNotSupported);
  } else {
    row.set_text(metric, text);
  }
}

// Its end says more than its beginning, where all groups are alike.
std::string_view end_of(std::string_view path) {
  return path.size() <= kCgroupBytes ? path : path.substr(path.size() - kCgroupBytes);
}

}  // namespace

Identities::Identities(Options options, recorder::Writer writer)
    : options_(std::move(options)), writer_(writer) {}

base::Result<Identities> Identities::open(Options options, recorder::File& identities) {
  const std::uint32_t slot = identities.slots(catalog::Scope::kNode).at(0);
  auto writer = identities.writer(slot, catalog::Lane::kIdentity);
  if (!writer) return std::unexpected(writer.error());
  Identities opened(std::move(options), *writer);
  opened.remember_earlier(identities);
  return opened;
}

void Identities::remember_earlier(recorder::File& identities) {
  auto reader = recorder::Reader::adopt(
      base::UniqueFd(::fcntl(identities.fd(), F_DUPFD_CLOEXEC, 0)), "identities");
  if (!reader) return;
  const auto ring =
      (*reader)->find_ring(identities.slots(catalog::Scope::kNode).at(0), catalog::Lane::kIdentity);
  if (!ring) return;
  catalog::Row row(catalog::Scope::kNode, catalog::Lane::kIdentity);
  const std::uint64_t published = (*reader)->published(*ring);
  std::uint64_t bad_rows = 0;
  for (std::uint64_t sequence = (*reader)->oldest(*ring);
       sequence < published && bad_rows < recorder::kMostBadRows; ++sequence) {
    if ((*reader)->read(*ring, sequence, row) != recorder::RowState::kOk) {
      ++bad_rows;
      continue;
    }
    bad_rows = 0;
    const std::uint64_t key = row.reading(MetricId::identity_key).u64();
    earlier_.insert(key);
    if (written_.size() >= kMostWritten) continue;
    written_.insert_or_assign(key, Written{.row = row, .sequence = sequence});
  }
}

base::Result<Identities::Sight> Identities::capture(std::uint32_t pid, std::int64_t now_ns,
                                                    std::int64_t wall_ns) {
  // Another process with that number in the middle of it is rare; twice in a row it is no accident.
  constexpr int kAttempts = 3;
  for (int attempt = 1;; ++attempt) {
    // The last time with what can be read: something may be broken for good.
    const Failures failures = attempt < kAttempts ? Failures::kRefused : Failures::kTaken;
    auto sight = try_capture(pid, now_ns, wall_ns, failures);
    const bool is_torn = !sight && sight.error().code == base::Code::kUnavailable;
    if (!is_torn || attempt == kAttempts) return sight;
  }
}

base::Result<Identities::Sight> Identities::try_capture(std::uint32_t pid, std::int64_t now_ns,
                                                        std::int64_t wall_ns, Failures failures) {
  const auto stat_line = options_.root.read("/proc/" + std::to_string(pid) + "/stat");
  if (!stat_line) return std::unexpected(stat_line.error());
  const auto line = host::parse_process_line(*stat_line);
  if (!line) return std::unexpected(line.error());
  const std::uint64_t key = host::identity_key(options_.boot_id, pid, line->start_ticks);
  const bool is_from_before = earlier_.erase(key) > 0;
  if (!is_from_before && !written_.contains(key)) {
    catalog::Row row(catalog::Scope::kNode, catalog::Lane::kIdentity);
    row.time_ns = now_ns;
    row.set(MetricId::identity_key, key);
    row.set(MetricId::identity_pid, std::uint64_t{pid});
    row.set(MetricId::identity_parent_pid, std::uint64_t{line->parent});
    row.set(MetricId::identity_start_seconds, host::ticks_to_seconds(line->start_ticks));
    row.set(MetricId::identity_first_seen_wall_ns, wall_ns);
    has_failed_ = false;
    fill(pid, *stat_line, row);
    if (has_failed_ && failures == Failures::kRefused) {
      return base::fail(base::Code::kUnavailable, "a file of it could not be read");
    }
    // Between two files of it the process may have ended and its number been used again.
    if (!is_still(pid, line->start_ticks)) {
      return base::fail(base::Code::kUnavailable, "another process by now");
    }
    if (written_.size() >= kMostWritten) {
      written_.erase(std::ranges::min_element(written_, {},
                                              [](const auto& one) { return one.second.sequence; }));
    }
    written_.insert_or_assign(key, Written{.row = row, .sequence = writer_.published()});
    writer_.append(row);
  }
  return Sight{.key = key, .start_ticks = line->start_ticks, .is_from_before = is_from_before};
}

bool Identities::is_still(std::uint32_t pid, std::uint64_t start_ticks) const {
  const auto stat_line = options_.root.read("/proc/" + std::to_string(pid) + "/stat");
  if (!stat_line) return true;  // it ended; nobody else has its number yet
  const auto line = host::parse_process_line(*stat_line);
  return line && line->start_ticks == start_ticks;
}

base::Result<std::string> Identities::read(const std::string& file, std::size_t limit_bytes) {
  auto text = options_.root.read(file, limit_bytes);
  has_failed_ = has_failed_ || (!text && text.error().code == base::Code::kIo);
  return text;
}

void Identities::fill(std::uint32_t pid, std::string_view stat_line, catalog::Row& row) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const auto text = read(folder + "/status");
  const auto status = text ? host::parse_process_status(*text)
                           : base::Result<host::ProcessStatus>(std::unexpected(text.error()));
  if (status) {
    row.set(MetricId::identity_uid, std::uint64_t{status->user_id});
    put_text(row, MetricId::identity_user, host::read_user(options_.root, status->user_id));
    if (status->pid_in_container) {
      row.set(MetricId::identity_container_pid, std::uint64_t{*status->pid_in_container});
    } else {
      row.set_absent(MetricId::identity_container_pid, catalog::State::kNotSupported);
    }
  } else {
    for (const MetricId metric :
         {MetricId::identity_uid, MetricId::identity_user, MetricId::identity_container_pid}) {
      row.set_absent(metric, state_of(status.error().code));
    }
  }
  const auto cmdline = read(folder + "/cmdline");
  std::string command = cmdline ? host::format_command(*cmdline, options_.command) : std::string();
  if (command.empty()) {
    // The name that the kernel shows in brackets: of a kernel thread, or of one that has just
    // ended.
    const auto line = host::parse_process_line(stat_line);
    if (line) command = base::clean_text(base::trim(line->name), 64);
  }
  put_text(row, MetricId::identity_command, command);
  fill_groups(pid, row);
}

void Identities::fill_groups(std::uint32_t pid, catalog::Row& row) {
  const std::string folder = "/proc/" + std::to_string(pid);
  host::Container container;
  const auto groups = read(folder + "/cgroup");
  if (groups) {
    const auto lines = host::parse_cgroup_lines(*groups);
    container = host::parse_container_of_process(*groups);
    row.set_text(MetricId::identity_cgroup, end_of(host::main_path(lines)));
    put_text(row, MetricId::identity_unit, host::find_unit(host::main_path(lines)));
  } else {
    row.set_absent(MetricId::identity_cgroup, state_of(groups.error().code));
    row.set_absent(MetricId::identity_unit, state_of(groups.error().code));
  }
  const auto environment = read(folder + "/environ", kEnvironmentBytes);
  const std::string_view variables = environment ? std::string_view(*environment) : "";
  const auto variable = [&](std::string_view name, std::size_t limit_bytes) {
    return base::clean_text(host::find_variable(variables, name), limit_bytes);
  };
  put_text(row, MetricId::identity_container, container.container_id);
  put_text(row, MetricId::identity_runtime, container.runtime);
  put_text(row, MetricId::identity_pod_uid, container.pod_uid);
  // The group is the scheduler's word, the environment only the process's own; it serves where the
  // scheduler uses no groups or names the job in another way there.
  std::string job = container.slurm_job;
  if (job.empty()) job = variable("SLURM_JOB_ID", 20);
  put_text(row, MetricId::identity_slurm_job, job.empty() ? container.slurm_sluid : job);
  put_text(row, MetricId::identity_slurm_step,
           container.slurm_step.empty() ? variable("SLURM_STEP_ID", 20) : container.slurm_step);
  put_text(row, MetricId::identity_slurm_user, variable("SLURM_JOB_USER", 32));
  const std::string labels = host::format_labels(variables, options_.labels);
  if (!environment) {
    row.set_absent(MetricId::identity_labels, state_of(environment.error().code));
  } else {
    put_text(row, MetricId::identity_labels, labels);
  }
}

void Identities::keep(std::uint64_t key) {
  const auto known = written_.find(key);
  if (known == written_.end()) return;
  const std::uint64_t published = writer_.published();
  if (published - known->second.sequence < writer_.capacity() / 2) return;
  // The row's time must not be before that of the last one; what it says is as of its first sight.
  catalog::Row last(catalog::Scope::kNode, catalog::Lane::kIdentity);
  if (writer_.read_last(last)) {
    known->second.row.time_ns = std::max(known->second.row.time_ns, last.time_ns);
  }
  known->second.sequence = published;
  writer_.append(known->second.row);
}

}  // namespace everywatt::hostwatch
