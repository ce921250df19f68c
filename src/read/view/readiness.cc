// SPDX-License-Identifier: Apache-2.0
#include "read/view/readiness.h"

#include <fmt/format.h>

#include <algorithm>

#include "read/view/cause.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::Scope;

constexpr unsigned kStalePeriods = 3;
// How far back the last good row is looked for: 100 s of gauges. Only what is not ready pays for
// it.
constexpr unsigned kReachRows = 1000;

bool has_good_reading(const catalog::Row& row) {
  const std::size_t cells = row.cells().size();
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::uint64_t word = row.states()[cell / catalog::kStatesPerWord];
    const std::uint64_t state = (word >> (4 * (cell % catalog::kStatesPerWord))) & 0xf;
    if (state == static_cast<std::uint64_t>(catalog::State::kOk)) return true;
  }
  return false;
}

void check_lane(const View& view, const Device& device, Lane lane, std::vector<NotReady>& found) {
  const auto ring = view.recorder().find_ring(device.slot, lane);
  if (!ring) return;
  NotReady entry{.slot = device.slot, .what = device.label(), .since_ns = 0, .reason = {}};
  const bool is_away =
      device.status != DeviceStatus::kOk && device.status_since_ns <= view.now_ns();
  if (is_away && device.status != DeviceStatus::kFailed) {
    entry.since_ns = device.status_since_ns;
    entry.reason = status_name(device.status);
    found.push_back(entry);
    return;
  }
  entry.since_ns = last_good_ns(view, device.slot, lane);
  const std::int64_t age_ns = view.now_ns() - entry.since_ns;
  if (entry.since_ns != 0 && age_ns <= kStalePeriods * view.period_ns(*ring)) return;
  entry.reason = entry.since_ns == 0
                     ? fmt::format("no good {} reading yet", catalog::lane_name(lane))
                     : fmt::format("no good {} reading for {:.1f} s", catalog::lane_name(lane),
                                   static_cast<double>(age_ns) / 1e9);
  if (const std::string cause = find_cause(view, device); !cause.empty()) {
    entry.reason += ": " + cause;
  }
  found.push_back(entry);
}

// In rows [first, end); those of another device before this one do not count.
std::int64_t search(const View& view, std::uint32_t slot, std::uint32_t ring, std::uint64_t first,
                    std::uint64_t end) {
  const recorder::Reader& reader = view.recorder();
  catalog::Row row(reader.ring(ring).scope, reader.ring(ring).lane);
  const std::int64_t rows_before_ns = reader.device(slot).rows_before_ns;
  const std::uint64_t oldest = std::max(first, reader.oldest(ring));
  for (unsigned looked = 0; end > oldest && looked < kReachRows; ++looked) {
    if (reader.read(ring, --end, row) != recorder::RowState::kOk) continue;
    if (row.time_ns < rows_before_ns) break;
    if (has_good_reading(row)) return row.time_ns;
  }
  return 0;
}

bool is_expected_absent(DeviceStatus status) {
  return status == DeviceStatus::kDrained || status == DeviceStatus::kGone ||
         status == DeviceStatus::kSuspended;
}

}  // namespace

std::int64_t last_good_ns(const View& view, std::uint32_t slot, Lane lane) {
  const auto ring = view.recorder().find_ring(slot, lane);
  return ring ? search(view, slot, *ring, 0, view.end_at(*ring, view.now_ns())) : 0;
}

std::int64_t LastGood::time_ns(const View& view, std::uint32_t slot, Lane lane) {
  const auto ring = view.recorder().find_ring(slot, lane);
  if (!ring) return 0;
  Seen& seen = seen_[*ring];
  const std::uint64_t end = view.end_at(*ring, view.now_ns());
  // A replay may have gone back.
  if (end < seen.end) seen = {};
  const std::int64_t found = search(view, slot, *ring, seen.end, end);
  if (found != 0) seen.time_ns = found;
  seen.end = end;
  return seen.time_ns;
}

std::vector<NotReady> find_not_ready(const View& view) {
  std::vector<NotReady> found;
  const std::vector<Device> all = gpus(view);
  for (const Device& gpu : all) {
    // MIG instances are read with their GPU, and have no clock of their own to fall behind.
    if (!gpu.is_mig() && !is_expected_absent(gpu.status)) {
      check_lane(view, gpu, Lane::kGauge, found);
    }
  }
  if (all.empty())
    found.push_back({.slot = 0, .what = "GPUs", .since_ns = 0, .reason = "none found"});
  for (const Device& machine : devices(view, Scope::kNode)) {
    check_lane(view, machine, Lane::kHost, found);
  }
  return found;
}

}  // namespace everywatt::view
