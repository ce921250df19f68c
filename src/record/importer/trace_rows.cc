// SPDX-License-Identifier: Apache-2.0
#include "record/importer/trace_rows.h"

#include <algorithm>

#include "device/host/command.h"
#include "device/host/container.h"
#include "device/host/labels.h"

namespace everywatt::importer {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;

// As on a live machine: the program and the script, no other argument.
std::string short_command(const std::vector<std::string>& words) {
  std::string cmdline;
  for (const std::string& word : words)
    cmdline.append(word).push_back('\0');
  return host::format_command(cmdline, host::CommandStyle::kName);
}

// What no driver could have said truly is no reading; a live one is told apart in the same way.
void reject_impossible(Row& row) {
  for (const MetricId id : catalog::schema(row.scope(), row.lane()).metrics) {
    const catalog::Metric& metric = catalog::metric(id);
    if (metric.type == catalog::Type::kText) continue;
    for (unsigned i = 0; i < metric.instances; ++i) {
      const catalog::Reading reading = row.reading(id, i);
      if (!reading.is_ok()) continue;
      if (catalog::is_in_range(metric, catalog::as_double(id, reading), kPowerLimitWatts)) continue;
      row.set_reading(id, catalog::Reading::absent(catalog::State::kInvalid), i);
    }
  }
}

std::string variable(const trace::Owner& owner, const char* name) {
  const auto found = owner.environment.find(name);
  return found == owner.environment.end() ? "" : found->second;
}

std::string format_labels(const trace::Owner& owner) {
  std::string environ;
  for (const auto& [name, value] : owner.environment)
    environ.append(name).append("=").append(value).push_back('\0');
  return host::format_labels(environ, {});
}

Row make_identity(const Happening& start, const trace::Owner& owner, const Place& place) {
  Row row(Scope::kNode, Lane::kIdentity);
  row.time_ns = start.time_ns;
  const host::Container container = host::parse_container(owner.cgroup);
  const auto put_text = [&row](MetricId id, std::string_view text) {
    if (text.empty()) {
      row.set_absent(id, catalog::State::kNotSupported);
    } else {
      row.set_text(id, text);
    }
  };
  row.set(MetricId::identity_key, start.identity);
  row.set(MetricId::identity_pid, start.pid);
  row.set(MetricId::identity_first_seen_wall_ns, start.time_ns + place.wall_offset_ns);
  row.set(MetricId::identity_uid, std::uint64_t{owner.uid});
  put_text(MetricId::identity_user, owner.user);
  put_text(MetricId::identity_command, short_command(owner.command));
  put_text(MetricId::identity_cgroup, owner.cgroup);
  put_text(MetricId::identity_unit, host::find_unit(owner.cgroup));
  put_text(MetricId::identity_container, container.container_id);
  put_text(MetricId::identity_runtime, container.runtime);
  put_text(MetricId::identity_pod_uid, container.pod_uid);
  const std::string& job = container.slurm_job;
  put_text(MetricId::identity_slurm_job, job.empty() ? variable(owner, "SLURM_JOB_ID") : job);
  const std::string& step = container.slurm_step;
  put_text(MetricId::identity_slurm_step, step.empty() ? variable(owner, "SLURM_STEP_ID") : step);
  put_text(MetricId::identity_slurm_user, variable(owner, "SLURM_JOB_USER"));
  put_text(MetricId::identity_labels, format_labels(owner));
  if (owner.pid_in_container != 0) {
    row.set(MetricId::identity_container_pid, std::uint64_t{owner.pid_in_container});
  }
  return row;
}

}  // namespace

std::string trace_name(const std::string& stem) {
  return stem.substr(stem.find_last_of('/') + 1);
}

std::uint64_t identity_key(const std::string& name, std::uint64_t pid) {
  // FNV-1a: any spread will do, and it never changes.
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const char c : name) {
    mix(static_cast<std::uint8_t>(c));
  }
  for (unsigned i = 0; i < 8; ++i) {
    mix(static_cast<std::uint8_t>(pid >> (8 * i)));
  }
  return std::max<std::uint64_t>(hash, 1);
}

void shift(TraceRows& rows, std::int64_t by_ns) {
  for (auto* lane : {&rows.once, &rows.gauge, &rows.gpm, &rows.power, &rows.slow, &rows.process,
                     &rows.host_process, &rows.identity}) {
    for (Row& row : *lane) {
      row.time_ns += by_ns;
      if (row.window_start_ns == 0) continue;
      row.window_start_ns += by_ns;
      row.window_end_ns += by_ns;
    }
  }
  for (Row& row : rows.identity) {
    row.set(MetricId::identity_first_seen_wall_ns,
            row.reading(MetricId::identity_first_seen_wall_ns).i64() + by_ns);
  }
  for (MachineMoment& moment : rows.machine) {
    moment.time_ns += by_ns;
  }
  for (Happening& happening : rows.happenings) {
    happening.time_ns += by_ns;
  }
  rows.end_ns += by_ns;
}

base::Result<TraceRows> read_trace(const std::string& stem, const Model& model,
                                   const Place& place) {
  TraceRows rows;
  if (auto added = add_gpu_rows(stem, model, place, rows); !added) {
    return std::unexpected(added.error());
  }
  if (auto added = add_process_rows(stem, place, rows); !added) {
    return std::unexpected(added.error());
  }
  if (auto added = add_host_rows(stem, place, rows); !added) return std::unexpected(added.error());
  for (auto* lane : {&rows.gauge, &rows.gpm, &rows.power, &rows.slow, &rows.process}) {
    std::ranges::for_each(*lane, reject_impossible);
  }
  const auto owner = trace::read_owner(stem);
  if (!owner) return std::unexpected(owner.error());
  for (Happening& happening : rows.happenings) {
    const std::string command = short_command(owner->command);
    happening.text = happening.text.empty() ? command : command + ", " + happening.text;
    if (!happening.is_end) rows.identity.push_back(make_identity(happening, *owner, place));
  }
  return rows;
}

}  // namespace everywatt::importer
