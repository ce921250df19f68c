// SPDX-License-Identifier: Apache-2.0
#include "device/sim/gpu.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

namespace everywatt::sim {
namespace {

// As many as the driver keeps.
constexpr std::size_t kProcessSamples = 100;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::string simulated_serial(std::uint32_t number) {
  return "16520240" + std::to_string(10'000 + number);
}

std::int64_t constant(Column column, const Profile& profile) {
  switch (column) {
    case Column::kFbTotal:
      return static_cast<std::int64_t>(kMemoryTotalBytes);
    case Column::kBar1Total:
      return static_cast<std::int64_t>(kBar1TotalBytes);
    case Column::kPcieGeneration:
      return profile.pcie_generation;
    case Column::kPcieWidth:
      return kPcieWidth;
    case Column::kPowerLimit:
      return kPowerLimitMw;
    case Column::kEccMode:
    case Column::kPersistenceMode:
      return 1;
    default:
      return 0;
  }
}

bool concerns(const WhichGpu& which, std::uint32_t number) {
  return !which || *which == number;
}

// `value` after so many steps. Counters of 64 bits go on over their end.
std::int64_t grown(std::int64_t value, std::int64_t steps, std::int64_t step) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) +
                                   static_cast<std::uint64_t>(steps) *
                                       static_cast<std::uint64_t>(step));
}

}  // namespace

std::vector<std::uint32_t> spanning_processes(const GpuTrace& trace, const Loop& loop) {
  std::vector<std::uint32_t> spanning;
  const ProcessListing* first = trace.listing_at(loop.begin_ns);
  const ProcessListing* last = trace.listing_at(loop.end_ns - 1);
  if (!first || !last) return spanning;
  for (const ListedProcess& process : first->processes) {
    const bool is_there_at_end =
        std::any_of(last->processes.begin(), last->processes.end(),
                    [&](const ListedProcess& other) { return other.ordinal == process.ordinal; });
    if (is_there_at_end) spanning.push_back(process.ordinal);
  }
  return spanning;
}

std::string simulated_uuid(std::uint32_t number) {
  char text[48];
  std::snprintf(text, sizeof text, "GPU-5ee0%04x-e0e7-4a77-8000-%012x", number, number + 1);
  return text;
}

Gpu::Gpu(std::uint32_t number, const Scenario& scenario, std::shared_ptr<const GpuTrace> trace,
         const Loop& loop)
    : number_(number),
      scenario_(scenario),
      entry_(scenario.devices[number]),
      profile_(*profile_by_key(entry_.profile)),
      trace_(std::move(trace)),
      loop_(loop),
      gpm_(*trace_, loop_),
      uuid_(entry_.uuid.empty() ? simulated_uuid(number) : entry_.uuid),
      serial_(simulated_serial(number)),
      spanning_(spanning_processes(*trace_, loop_)),
      growths_left_(static_cast<std::int32_t>(entry_.growing_lists)) {}

std::uint32_t Gpu::pci_bus() const {
  return number_ + 1;
}

std::int64_t Gpu::recorded(Column column, std::int64_t played_ns) const {
  const Steps& steps = trace_->columns[index_of(column)];
  const Position here = position(loop_, played_ns);
  const std::int64_t value = steps.at(here.trace_ns);
  if (!grows_over_laps(column)) return value;
  return grown(value, here.lap, steps.rise(loop_.begin_ns, loop_.end_ns));
}

std::int64_t Gpu::read(Column column, std::int64_t played_ns) const {
  for (const OverrideEntry& entry : scenario_.overrides) {
    if (entry.column != column || !concerns(entry.gpu, number_) || !entry.span.holds(played_ns)) {
      continue;
    }
    if (entry.per_second == 0) return entry.value;
    const std::int64_t from_ns = std::max<std::int64_t>(entry.span.from_ns, 0);
    return grown(entry.value, (played_ns - from_ns) / kNsPerSecond, entry.per_second);
  }
  return index_of(column) < kTraceColumns ? recorded(column, played_ns)
                                          : constant(column, profile_);
}

std::uint32_t Gpu::pid_of(std::uint32_t ordinal, const Position& position) const {
  const bool spans = std::find(spanning_.begin(), spanning_.end(), ordinal) != spanning_.end();
  return process_pid(number_, ordinal, spans ? 0 : position.lap);
}

std::vector<RunningProcess> Gpu::processes(ProcessKind kind, std::int64_t played_ns) const {
  std::vector<RunningProcess> running;
  const Position here = position(loop_, played_ns);
  const ProcessListing* listing =
      kind == ProcessKind::kCompute ? trace_->listing_at(here.trace_ns) : nullptr;
  if (listing) {
    for (const ListedProcess& process : listing->processes) {
      running.push_back({pid_of(process.ordinal, here), process.memory_bytes, process});
    }
  }
  for (const RunningProcess& process : scripted_processes(kind, played_ns)) {
    running.push_back(process);
  }
  return running;
}

std::vector<RunningProcess> Gpu::scripted_processes(ProcessKind kind,
                                                    std::int64_t played_ns) const {
  std::vector<RunningProcess> running;
  for (const ProcessEntry& entry : scenario_.processes) {
    if (entry.kind != kind || !concerns(entry.gpu, number_) || !entry.span.holds(played_ns)) {
      continue;
    }
    ListedProcess usage{.memory_bytes = entry.memory_bytes, .sm_percent = entry.sm_percent};
    if (entry.sm_percent >= 0) {
      usage.memory_percent = usage.encoder_percent = usage.decoder_percent = 0;
    }
    running.push_back({entry.pid, entry.memory_bytes, usage});
  }
  return running;
}

void Gpu::append_scripted_samples(std::int64_t since_ns, std::int64_t played_ns,
                                  std::vector<ProcessSample>& samples) const {
  const std::int64_t taken_ns = played_ns / kNsPerSecond * kNsPerSecond;
  if (taken_ns <= since_ns) return;
  for (const ProcessKind kind :
       {ProcessKind::kCompute, ProcessKind::kGraphics, ProcessKind::kMps}) {
    for (const RunningProcess& process : scripted_processes(kind, taken_ns)) {
      if (process.usage.sm_percent >= 0) samples.push_back({taken_ns, process});
    }
  }
}

std::vector<ProcessSample> Gpu::process_samples(std::int64_t since_ns,
                                                std::int64_t played_ns) const {
  std::vector<ProcessSample> samples;
  // Backwards through the lists, from lap to lap, until the buffer is full. The earliest lap has no
  // predecessor.
  Position here = position(loop_, played_ns);
  std::optional<std::size_t> at_lap_end;
  while (samples.size() < kProcessSamples && played_at(loop_, here) > since_ns) {
    const ProcessListing* newest = nullptr;
    for (const ProcessListing& listing : trace_->listings) {
      if (listing.at_ns > here.trace_ns) break;
      if (here.lap == 0 || listing.at_ns >= loop_.begin_ns) newest = &listing;
    }
    if (!newest) {
      if (here.lap == 0) break;
      // Laps are alike: where a whole one has no samples, only the first pass can have some.
      // Without this a short loop, played for long, would take for ever.
      here = {loop_.end_ns - 1, at_lap_end == samples.size() ? 0 : here.lap - 1};
      at_lap_end = samples.size();
      continue;
    }
    const std::int64_t taken_ns = played_at(loop_, {newest->at_ns, here.lap});
    if (taken_ns <= since_ns) break;
    for (const ListedProcess& process : newest->processes) {
      if (process.sm_percent < 0) continue;  // the driver had no sample
      samples.push_back({taken_ns, {pid_of(process.ordinal, here), process.memory_bytes, process}});
    }
    here.trace_ns = newest->at_ns - 1;
  }
  std::reverse(samples.begin(), samples.end());
  append_scripted_samples(since_ns, played_ns, samples);
  if (samples.size() > kProcessSamples) {
    samples.erase(samples.begin(), samples.end() - kProcessSamples);
  }
  return samples;
}

}  // namespace everywatt::sim
