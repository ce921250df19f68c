// SPDX-License-Identifier: Apache-2.0
#include "record/importer/importer.h"

#include <sys/stat.h>

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "catalog/event.h"
#include "record/importer/model.h"
#include "record/importer/totals_rows.h"
#include "record/importer/trace_rows.h"
#include "record/recorder/writer.h"

namespace everywatt::importer {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;

constexpr unsigned kFileMode = 0644;
// A trace has no boot; it starts at a time that is not 0, for 0 means unset.
constexpr std::int64_t kStartNs = 1'000'000'000'000;
// Slots before the first GPU: the machine and our parts, as in a live file.
constexpr std::uint32_t kFirstGpuSlot = 1 + recorder::kPartCount;

// When it was recorded, as far as a file can tell: when it was last written.
std::int64_t written_wall_ns(const std::string& stem) {
  struct stat about{};
  if (::stat((stem + ".gpu.csv.gz").c_str(), &about) != 0) return 0;
  return about.st_mtim.tv_sec * std::int64_t{1'000'000'000};
}

// The machines of all traces as one: its CPUs are theirs together.
std::vector<Row> sum_machines(std::span<const TraceRows> traces) {
  std::vector<std::int64_t> times;
  double cpus = 0;
  for (const TraceRows& trace : traces) {
    cpus += trace.machine.empty() ? 0 : trace.cpus;
    for (const MachineMoment& moment : trace.machine) {
      times.push_back(moment.time_ns);
    }
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<std::size_t> places(traces.size());
  std::vector<Row> rows;
  for (const std::int64_t time_ns : times) {
    MachineMoment sum;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      const auto& moments = traces[i].machine;
      while (places[i] < moments.size() && moments[places[i]].time_ns <= time_ns) {
        ++places[i];
      }
      if (places[i] == 0) continue;
      const MachineMoment& moment = moments[places[i] - 1];
      sum.user_seconds += moment.user_seconds;
      sum.system_seconds += moment.system_seconds;
      sum.iowait_seconds += moment.iowait_seconds;
      sum.idle_seconds += moment.idle_seconds;
    }
    Row row(Scope::kNode, Lane::kHost);
    row.time_ns = time_ns;
    row.set(MetricId::host_cpu_user_seconds_total, sum.user_seconds);
    row.set(MetricId::host_cpu_system_seconds_total, sum.system_seconds);
    row.set(MetricId::host_cpu_iowait_seconds_total, sum.iowait_seconds);
    row.set(MetricId::host_cpu_idle_seconds_total, sum.idle_seconds);
    row.set(MetricId::host_cpus, static_cast<std::uint64_t>(cpus));
    rows.push_back(std::move(row));
  }
  return rows;
}

Row make_event(std::int64_t time_ns, std::int64_t wall_offset_ns, catalog::EventKind kind,
               std::uint32_t slot, std::string_view text) {
  Row row(Scope::kPart, Lane::kEvent);
  row.time_ns = time_ns;
  row.set(MetricId::event_kind, static_cast<std::uint64_t>(kind));
  row.set(MetricId::event_device, std::uint64_t{slot});
  row.set(MetricId::event_wall_ns, time_ns + wall_offset_ns);
  row.set(MetricId::event_source, static_cast<std::uint64_t>(catalog::EventSource::kReadings));
  row.set_text(MetricId::event_text, text);
  return row;
}

std::vector<Row> make_events(std::span<const TraceRows> traces, std::int64_t wall_offset_ns) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const auto slot = kFirstGpuSlot + static_cast<std::uint32_t>(i);
    if (traces[i].has_held_power) {
      rows.push_back(make_event(traces[i].once.front().time_ns, wall_offset_ns,
                                catalog::EventKind::kAnnotation, slot,
                                "imported; each power sample of 20.7 ms holds the instant power of "
                                "its 100 ms"));
    }
    for (const Happening& happening : traces[i].happenings) {
      Row row = make_event(
          happening.time_ns, wall_offset_ns,
          happening.is_end ? catalog::EventKind::kProcessEnd : catalog::EventKind::kProcessStart,
          slot, happening.text);
      row.set(MetricId::event_pid, happening.pid);
      row.set(MetricId::event_identity, happening.identity);
      rows.push_back(std::move(row));
    }
  }
  std::ranges::stable_sort(rows, {}, &Row::time_ns);
  return rows;
}

std::vector<Row> merge(std::span<const TraceRows> traces, std::vector<Row> TraceRows::* lane) {
  std::vector<Row> rows;
  for (const TraceRows& trace : traces) {
    rows.insert(rows.end(), (trace.*lane).begin(), (trace.*lane).end());
  }
  std::ranges::stable_sort(rows, {}, &Row::time_ns);
  return rows;
}

std::vector<RingRows> collect(std::vector<TraceRows>& traces, std::int64_t wall_offset_ns) {
  std::vector<RingRows> rings;
  rings.push_back({0, Lane::kHost, sum_machines(traces)});
  rings.push_back({0, Lane::kHostProcess, merge(traces, &TraceRows::host_process)});
  rings.push_back({0, Lane::kIdentity, merge(traces, &TraceRows::identity)});
  rings.push_back({1 + static_cast<std::uint32_t>(recorder::Part::kSampler), Lane::kEvent,
                   make_events(traces, wall_offset_ns)});
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const auto slot = kFirstGpuSlot + static_cast<std::uint32_t>(i);
    rings.push_back({slot, Lane::kOnce, std::move(traces[i].once)});
    rings.push_back({slot, Lane::kGauge, std::move(traces[i].gauge)});
    rings.push_back({slot, Lane::kGpm, std::move(traces[i].gpm)});
    rings.push_back({slot, Lane::kPower, std::move(traces[i].power)});
    rings.push_back({slot, Lane::kSlow, std::move(traces[i].slow)});
    rings.push_back({slot, Lane::kProcess, std::move(traces[i].process)});
  }
  std::erase_if(rings, [](const RingRows& ring) { return ring.rows.empty(); });
  return rings;
}

base::Status write_file(const std::string& path, std::span<const RingRows> rings, std::size_t gpus,
                        std::int64_t wall_offset_ns) {
  recorder::LayoutOptions layout{.source = recorder::Source::kImport, .devices = {}};
  layout.devices.push_back({.scope = Scope::kNode});
  layout.devices.insert(layout.devices.end(), recorder::kPartCount, {.scope = Scope::kPart});
  layout.devices.insert(layout.devices.end(), gpus, {.scope = Scope::kGpu});
  for (const RingRows& ring : rings) {
    layout.rings.push_back(
        {.device = ring.slot, .lane = ring.lane, .capacity = ring.rows.size() + 1});
  }
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    layout.rings.push_back({.device = kFirstGpuSlot + gpu,
                            .lane = Lane::kTotals,
                            .capacity = count_totals(rings, kFirstGpuSlot + gpu) + 1});
  }
  layout.origin = recorder::Origin{
      .boot_id = {}, .created_ns = kStartNs, .created_wall_ns = kStartNs + wall_offset_ns};
  auto file = recorder::File::prepare(path, kFileMode, layout);
  if (!file) return std::unexpected(file.error());
  for (const RingRows& ring : rings) {
    auto writer = (*file)->writer(ring.slot, ring.lane);
    if (!writer) return std::unexpected(writer.error());
    for (const Row& row : ring.rows) {
      writer->append(row);
    }
  }
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    if (auto added = write_totals(**file, rings, kFirstGpuSlot + gpu); !added) return added;
    (*file)->device(kFirstGpuSlot + gpu).index.store(gpu);
    (*file)->set_status(kFirstGpuSlot + gpu, recorder::DeviceStatus::kOk, kStartNs);
  }
  (*file)->header().wall_offset_ns.store(static_cast<std::uint64_t>(wall_offset_ns));
  return (*file)->commit();
}

}  // namespace

std::string profile_names() {
  std::string names;
  for (const Model& model : models()) {
    names += (names.empty() ? "" : ", ") + std::string(model.key);
  }
  return names;
}

base::Result<Summary> import_traces(const Options& options) {
  const Model* model = find_model(options.profile);
  if (model == nullptr) {
    return base::fail(base::Code::kInvalidArgument, fmt::format("no profile '{}'", options.profile),
                      "there are: " + profile_names());
  }
  if (options.stems.empty()) return base::fail(base::Code::kInvalidArgument, "no trace");
  if (options.output.empty()) return base::fail(base::Code::kInvalidArgument, "no output file");
  const std::int64_t wall_offset_ns = written_wall_ns(options.stems.front()) - kStartNs;
  Summary summary;
  std::vector<TraceRows> traces;
  for (const std::string& stem : options.stems) {
    auto trace = read_trace(stem, *model,
                            {.index = static_cast<std::uint32_t>(traces.size()),
                             .start_ns = kStartNs,
                             .wall_offset_ns = wall_offset_ns});
    if (!trace) return std::unexpected(trace.error());
    summary.duration_ns = std::max(summary.duration_ns, trace->end_ns - kStartNs);
    traces.push_back(*std::move(trace));
  }
  for (TraceRows& trace : traces) {
    shift(trace, kStartNs + summary.duration_ns - trace.end_ns);
  }
  summary.gpus = traces.size();
  const std::vector<RingRows> rings = collect(traces, wall_offset_ns);
  for (const RingRows& ring : rings) {
    summary.rows += ring.rows.size();
  }
  if (auto written = write_file(options.output, rings, summary.gpus, wall_offset_ns); !written) {
    return std::unexpected(written.error());
  }
  return summary;
}

}  // namespace everywatt::importer
