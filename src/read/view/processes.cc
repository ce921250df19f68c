// SPDX-License-Identifier: Apache-2.0
#include "read/view/processes.h"

#include <algorithm>
#include <span>
#include <utility>

#include "read/view/host_use.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;

constexpr unsigned kStalePeriods = 3;
// The driver's samples are drained every 5 s: one that was not renewed then is gone.
constexpr std::int64_t kSampleReachNs = 6'000'000'000;
constexpr std::size_t kSampleReachRows = 4096;
// Steps back to a whole listing: beyond it there is damage, not a listing.
constexpr std::size_t kListingReach = 4096;

std::optional<std::uint64_t> count(const Row& row, MetricId id) {
  const catalog::Reading reading = row.reading(id);
  if (!reading.is_ok()) return std::nullopt;
  return reading.u64();
}

std::optional<double> ratio(const Row& row, MetricId id) {
  const catalog::Reading reading = row.reading(id);
  if (!reading.is_ok()) return std::nullopt;
  return reading.f64();
}

// The rows [first, end) of one listing.
struct Span {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

bool read_row(const View& view, std::uint32_t ring, std::uint64_t sequence, Row& row) {
  return view.recorder().read(ring, sequence, row) == recorder::RowState::kOk;
}

// The newest listing before row `end` that is there from its first row to its last: its writer may
// be in the middle of one, and the ring may have overtaken the beginning. Nothing either when the
// newest says only why there is none.
std::optional<Span> find_listing(const View& view, std::uint32_t ring, std::uint64_t end) {
  const std::uint64_t oldest = view.recorder().oldest(ring);
  Row row(catalog::Scope::kGpu, Lane::kProcess);
  for (std::size_t looked = 0; end > oldest && looked < kListingReach; ++looked) {
    if (!read_row(view, ring, end - 1, row)) {
      --end;
      continue;
    }
    const auto processes = count(row, MetricId::process_count);
    if (!processes) return std::nullopt;
    const std::uint64_t rows = std::max<std::uint64_t>(*processes, 1);
    const std::uint64_t index = count(row, MetricId::process_index).value_or(0);
    if (index >= end - oldest) return std::nullopt;
    if (index + 1 == rows) return Span{end - rows, end};
    end -= index + 1;
  }
  return std::nullopt;
}

Process parse_process(const Row& row) {
  Process process;
  process.pid = count(row, MetricId::process_pid).value_or(0);
  process.identity_key = count(row, MetricId::process_identity).value_or(0);
  process.type_mask = count(row, MetricId::process_type_mask).value_or(0);
  process.memory_bytes = count(row, MetricId::process_memory_bytes);
  return process;
}

// Utilization comes with the driver's samples, not with each listing.
void take_samples(Process& process, const Row& row) {
  const auto take = [&](std::optional<double>& value, MetricId id) {
    if (!value) value = ratio(row, id);
  };
  take(process.sm_ratio, MetricId::process_sm_ratio);
  take(process.memory_controller_ratio, MetricId::process_memory_controller_ratio);
  take(process.encoder_ratio, MetricId::process_encoder_ratio);
  take(process.decoder_ratio, MetricId::process_decoder_ratio);
}

void add_samples(const View& view, std::uint32_t ring, std::uint64_t end, Listing& listing) {
  Row row(catalog::Scope::kGpu, Lane::kProcess);
  const std::uint64_t oldest = view.recorder().oldest(ring);
  std::size_t missing = listing.processes.size();
  for (std::size_t looked = 0; end > oldest && looked < kSampleReachRows && missing > 0; ++looked) {
    if (!read_row(view, ring, --end, row)) continue;
    if (row.time_ns < listing.time_ns - kSampleReachNs) break;
    const std::uint64_t pid = count(row, MetricId::process_pid).value_or(0);
    const auto process = std::ranges::find(listing.processes, pid, &Process::pid);
    if (process == listing.processes.end() || process->sm_ratio) continue;
    take_samples(*process, row);
    if (process->sm_ratio) --missing;
  }
}

// The least memory that was used in the second up to the listing; nothing: it is not known. A
// driver may list what processes held some time ago (the simulation's list is renewed once a
// second): what a growing one took since then belongs to it, too.
std::optional<std::uint64_t> find_settled_memory(const View& view, const Listing& listing) {
  constexpr std::int64_t kSettledNs = 1'200'000'000;
  constexpr unsigned kReach = 16;
  const Handle handle = view.handle(listing.slot, MetricId::gpu_memory_used_bytes);
  std::optional<std::uint64_t> least;
  std::int64_t time_ns = listing.time_ns;
  for (unsigned looked = 0; looked < kReach; ++looked) {
    const Latest used = view.latest_at(handle, time_ns);
    if (!used.is_ok()) break;
    if (least && used.time_ns < listing.time_ns - kSettledNs) break;
    least = std::min(least.value_or(used.reading.u64()), used.reading.u64());
    time_ns = used.time_ns - 1;
  }
  return least;
}

std::optional<std::uint64_t> compute_unattributed(const View& view, const Listing& listing) {
  // Under MIG the processes are listed with the instances.
  for (const recorder::Device& device : view.recorder().devices()) {
    if (device.parent == listing.slot) return std::nullopt;
  }
  const auto used = find_settled_memory(view, listing);
  if (!used) return std::nullopt;
  std::uint64_t held = 0;
  for (const Process& process : listing.processes) {
    if (!process.memory_bytes) return std::nullopt;
    held += *process.memory_bytes;
  }
  return *used - std::min(held, *used);
}

}  // namespace

std::string Process::type() const {
  std::string text;
  constexpr std::pair<std::uint64_t, const char*> kTypes[] = {
      {1, "compute"}, {2, "graphics"}, {4, "mps"}};
  for (const auto& [bit, name] : kTypes) {
    if ((type_mask & bit) == 0) continue;
    if (!text.empty()) text += '+';
    text += name;
  }
  return text.empty() ? "?" : text;
}

Listing list_processes(const View& view, std::uint32_t slot, Join join, std::int64_t time_ns) {
  Listing listing;
  listing.slot = slot;
  const std::int64_t at_ns = time_ns == 0 ? view.now_ns() : std::min(time_ns, view.now_ns());
  const auto ring = view.recorder().find_ring(slot, Lane::kProcess);
  if (!ring || view.recorder().ring(*ring).scope != catalog::Scope::kGpu) return listing;
  const auto span = find_listing(view, *ring, view.end_at(*ring, at_ns));
  if (!span) return listing;
  Row row(catalog::Scope::kGpu, Lane::kProcess);
  std::int64_t read_ns = 0;
  for (std::uint64_t sequence = span->first; sequence < span->end; ++sequence) {
    if (!read_row(view, *ring, sequence, row)) {
      listing.processes.clear();
      return listing;
    }
    read_ns = row.time_ns;
    const bool holds_process = count(row, MetricId::process_count).value_or(0) > 0;
    if (holds_process) listing.processes.push_back(parse_process(row));
  }
  const recorder::Device device = view.recorder().device(slot);
  if ((is_away(device.status) && device.status_since_ns <= at_ns) ||
      read_ns < device.rows_before_ns || at_ns - read_ns > kStalePeriods * view.period_ns(*ring)) {
    listing.processes.clear();
    return listing;
  }
  listing.time_ns = read_ns;
  add_samples(view, *ring, span->end, listing);
  listing.unattributed_bytes = compute_unattributed(view, listing);
  if (join == Join::kAll && !listing.processes.empty()) {
    const auto uses = read_host_use(view, at_ns);
    for (Process& process : listing.processes) {
      const auto use = uses.find(process.pid);
      if (use != uses.end()) process.host = use->second;
      // Who writes the driver's listing knows pids alone; the host process knows whose they are.
      if (process.identity_key == 0 && process.host) {
        process.identity_key = process.host->identity_key;
      }
      process.identity = find_identity(view, process.identity_key);
    }
  }
  std::ranges::stable_sort(listing.processes, std::greater{},
                           [](const Process& process) { return process.memory_bytes.value_or(0); });
  return listing;
}

}  // namespace everywatt::view
