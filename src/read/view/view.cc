// SPDX-License-Identifier: Apache-2.0
#include "read/view/view.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "read/view/device.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::State;
using recorder::RowState;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr unsigned kStalePeriods = 3;
// The default cadence of all readings of a MIG instance.
constexpr std::int64_t kMigPeriodNs = 1'000 * kMillisecond;
// Gaps that are looked at to learn how fast a lane really runs; the smallest counts, so one late
// tick does not make a slow lane of it.
constexpr unsigned kGaps = 4;
constexpr unsigned kGapRows = 256;
// Rows that were lost or damaged on the way back to the newest good one.
constexpr unsigned kBadRows = 16;

// Rows to look back through for a reading that is not due in each.
std::uint32_t reach_rows(const catalog::Metric& metric) {
  constexpr std::uint32_t kLeast = 16;
  constexpr std::uint32_t kMost = 512;
  const std::int64_t lane_ns = lane_period_ns(metric.lane);
  if (lane_ns == 0) return kLeast;
  const std::int64_t rows = (kStalePeriods + 1) * metric.period_ms * kMillisecond / lane_ns;
  return std::clamp(static_cast<std::uint32_t>(std::min<std::int64_t>(rows, kMost)), kLeast, kMost);
}

// Accumulators and identity stay true while their device is away.
bool outlives_device(Lane lane) {
  return lane == Lane::kOnce || lane == Lane::kTotals || lane == Lane::kFaults ||
         lane == Lane::kEvent || lane == Lane::kIdentity;
}

Latest absent(State state, Absence why) {
  Latest latest;
  latest.reading = catalog::Reading::absent(state);
  latest.absence = why;
  return latest;
}

bool has_identity_ring(const recorder::Reader& reader) {
  for (std::uint32_t ring = 0; ring < reader.ring_count(); ++ring) {
    if (reader.ring(ring).lane == Lane::kIdentity) return true;
  }
  return false;
}

std::string beside(const std::string& path, const std::string& name) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? name : path.substr(0, slash + 1) + name;
}

// The reader itself follows no link.
std::unique_ptr<recorder::Reader> open_journal(const std::string& path) {
  std::error_code error;
  std::string file = std::filesystem::read_symlink(path, error).string();
  auto journal = recorder::Reader::open(error ? path : file);
  return journal ? std::move(*journal) : nullptr;
}

}  // namespace

std::int64_t lane_period_ns(Lane lane) {
  switch (lane) {
    case Lane::kGauge:
      return 100 * kMillisecond;
    case Lane::kPower:  // rows are 20.7 ms apart, and come once a second
    case Lane::kGpm:
    case Lane::kProcess:
    case Lane::kHost:
    case Lane::kPart:
    case Lane::kSampling:
      return 1'000 * kMillisecond;
    case Lane::kHostProcess:  // 1 s for the first 64 processes, 10 s for the others
    case Lane::kSlow:
      return 10'000 * kMillisecond;
    case Lane::kOnce:
    case Lane::kTotals:
    case Lane::kFaults:
    case Lane::kIdentity:
    case Lane::kEvent:
      return 0;
  }
  return 0;
}

base::Result<std::unique_ptr<View>> View::open(const Options& options) {
  auto recorder = recorder::Reader::open(options.recorder_path);
  if (!recorder) return std::unexpected(std::move(recorder.error()));
  std::unique_ptr<recorder::Reader> identities;
  if (!has_identity_ring(**recorder)) {
    // Most callers may not read it, and a recording may lack it: owners are unknown then.
    auto opened = recorder::Reader::open(options.identities_path.empty()
                                             ? beside(options.recorder_path, "identities")
                                             : options.identities_path);
    if (opened) identities = std::move(*opened);
  }
  auto view = adopt(std::move(*recorder), std::move(identities), options.clock);
  const std::string journal_path = options.journal_path.empty()
                                       ? beside(options.recorder_path, "journal")
                                       : options.journal_path;
  if (auto journal = open_journal(journal_path)) view->use_journal(std::move(journal));
  return view;
}

void View::use_journal(std::unique_ptr<recorder::Reader> journal) {
  if (journal && journal->boot_id() == recorder_->boot_id()) journal_ = std::move(journal);
}

std::unique_ptr<View> View::adopt(std::unique_ptr<recorder::Reader> recorder,
                                  std::unique_ptr<recorder::Reader> identities, base::Clock clock) {
  std::unique_ptr<View> view(new View);
  view->recorder_ = std::move(recorder);
  view->own_identities_ = std::move(identities);
  view->identities_ = view->own_identities_.get();
  if (view->identities_ == nullptr && has_identity_ring(*view->recorder_)) {
    view->identities_ = view->recorder_.get();
  }
  view->last_ends_ = std::vector<std::atomic<std::uint64_t>>(view->recorder_->ring_count());
  view->clock_ = std::move(clock);
  if (!view->clock_) view->fixed_now_ns_ = view->last_row_ns();
  return view;
}

std::int64_t View::now_ns() const {
  return clock_ ? clock_() : fixed_now_ns_;
}

void View::set_now(std::int64_t now_ns) {
  clock_ = nullptr;
  fixed_now_ns_ = now_ns;
}

std::int64_t View::first_row_ns() const {
  std::int64_t first = 0;
  for (std::uint32_t ring = 0; ring < recorder_->ring_count(); ++ring) {
    const std::uint64_t end = recorder_->published(ring);
    for (std::uint64_t row = recorder_->oldest(ring), tries = 0; row < end && tries < kBadRows;
         ++row, ++tries) {
      const auto time = recorder_->read_time(ring, row);
      if (!time) continue;
      if (first == 0 || *time < first) first = *time;
      break;
    }
  }
  return first;
}

std::int64_t View::last_row_ns() const {
  std::int64_t last = 0;
  for (std::uint32_t ring = 0; ring < recorder_->ring_count(); ++ring) {
    const std::uint64_t end = recorder_->published(ring);
    if (end == 0) continue;
    last = std::max(last, recorder_->read_time(ring, end - 1).value_or(0));
  }
  return last;
}

Handle View::handle(std::uint32_t slot, catalog::MetricId id, unsigned instance) const {
  const catalog::Metric& metric = catalog::metric(id);
  Handle handle{.slot = slot, .id = id, .instance = static_cast<std::uint16_t>(instance)};
  handle.reach_rows = reach_rows(metric);
  const std::int64_t lane_ns = usual_period_ns(slot, metric.lane);
  handle.stale_after_ns =
      kStalePeriods * (lane_ns == 0 ? 0 : std::max(lane_ns, metric.period_ms * kMillisecond));
  const auto ring = recorder_->find_ring(slot, metric.lane);
  if (ring && recorder_->ring(*ring).scope == metric.scope && recorder_->has_metric(id)) {
    handle.ring = *ring;
  }
  return handle;
}

std::uint64_t View::end_at(std::uint32_t ring, std::int64_t time_ns) const {
  const std::uint64_t end = recorder_->published(ring);
  // Nearly always nothing is later than now: no bisection for that.
  if (end == 0) return 0;
  const auto newest = recorder_->read_time(ring, end - 1);
  if (newest && *newest <= time_ns) return end;
  return find_end(ring, time_ns);
}

// By bisection, unless the last answer still holds.
std::uint64_t View::find_end(std::uint32_t ring, std::int64_t time_ns) const {
  std::atomic<std::uint64_t>& last = last_ends_[ring];
  if (const std::uint64_t end = last.load(std::memory_order_relaxed); end > 0) {
    const auto before = recorder_->read_time(ring, end - 1);
    const auto after = recorder_->read_time(ring, end);
    if (before && after && *before <= time_ns && *after > time_ns) return end;
  }
  const std::uint64_t end = recorder_->lower_bound(ring, time_ns + 1);
  last.store(end, std::memory_order_relaxed);
  return end;
}

Latest View::latest_at(const Handle& handle, std::int64_t now) const {
  if (handle.ring == Handle::kNoRing) return absent(State::kNotSupported, Absence::kNoRing);
  const recorder::Device device = recorder_->device(handle.slot);
  Latest found = catalog::metric(handle.id).type == catalog::Type::kText
                     ? find_text(handle, now, device.rows_before_ns)
                     : find_cell(handle, now, device.rows_before_ns);
  const bool keeps = outlives_device(recorder_->ring(handle.ring).lane);
  if (found.time_ns == 0) found.absence = Absence::kNoRows;
  if (found.is_ok()) found.absence = Absence::kPresent;
  if (!keeps && is_away(device.status) && device.status_since_ns <= now) {
    found.reading = catalog::Reading::absent(status_state(device.status));
    found.absence = Absence::kDevice;
  } else if (found.reading.state == State::kNotSupported) {
    // What a device lacks it lacks until something else is said: nobody asks it again each tick.
  } else if (found.time_ns != 0 && is_stale(handle, found.age_ns)) {
    // A device that fails as a whole gives no readings that would say so.
    const bool has_failed =
        !keeps && device.status == DeviceStatus::kFailed && device.status_since_ns <= now;
    found.reading = catalog::Reading::absent(has_failed ? State::kFailed : State::kNotRead);
    found.absence = has_failed ? Absence::kDevice : Absence::kStale;
  }
  return found;
}

Latest View::find_cell(const Handle& handle, std::int64_t now, std::int64_t rows_before_ns) const {
  Latest found;
  recorder::Reader::Cell cell;
  std::uint64_t end = recorder_->published(handle.ring);
  const std::uint64_t oldest = recorder_->oldest(handle.ring);
  bool is_bounded = false;  // by now: rows before `end` are not later
  for (std::uint32_t looked = 0; end > oldest && looked < handle.reach_rows; ++looked) {
    const RowState row =
        recorder_->read_cell(handle.ring, end - 1, handle.id, handle.instance, cell);
    if (row == RowState::kOk && cell.time_ns > now && !is_bounded) {
      end = find_end(handle.ring, now);
      is_bounded = true;
      continue;
    }
    --end;
    if (row != RowState::kOk) continue;
    if (cell.time_ns < rows_before_ns) break;
    const State state = cell.reading.state;
    const bool is_final = state != State::kNotRead && state != State::kNoNewValue;
    if (found.time_ns == 0 || is_final) {
      found = {.reading = cell.reading,
               .absence = Absence::kState,
               .time_ns = cell.time_ns,
               .window_start_ns = cell.window_start_ns,
               .window_end_ns = cell.window_end_ns,
               .age_ns = now - cell.time_ns};
    }
    if (is_final) break;
  }
  return found;
}

// The reading of a text says whether there is one; text() gives it.
Latest View::find_text(const Handle& handle, std::int64_t now, std::int64_t rows_before_ns) const {
  const recorder::Ring& ring = recorder_->ring(handle.ring);
  catalog::Row row(ring.scope, ring.lane);
  std::uint64_t end = end_at(handle.ring, now);
  const std::uint64_t oldest = recorder_->oldest(handle.ring);
  for (unsigned tries = 0; end > oldest && tries < kBadRows; ++tries) {
    if (recorder_->read(handle.ring, --end, row) != RowState::kOk) continue;
    if (row.time_ns < rows_before_ns) break;
    return {.reading = {row.state(handle.id, handle.instance), 0},
            .absence = Absence::kState,
            .time_ns = row.time_ns,
            .window_start_ns = 0,
            .window_end_ns = 0,
            .age_ns = now - row.time_ns};
  }
  return {};
}

bool View::is_stale(const Handle& handle, std::int64_t age_ns) const {
  if (handle.stale_after_ns == 0 || age_ns <= handle.stale_after_ns) return false;
  return age_ns > kStalePeriods * period_ns(handle);
}

Latest View::latest(std::uint32_t slot, catalog::MetricId id, unsigned instance) const {
  return latest(handle(slot, id, instance));
}

std::optional<double> View::number(const Handle& handle) const {
  const Latest found = latest(handle);
  if (!found.is_ok()) return std::nullopt;
  return catalog::as_double(handle.id, found.reading);
}

std::optional<double> View::number(std::uint32_t slot, catalog::MetricId id,
                                   unsigned instance) const {
  return number(handle(slot, id, instance));
}

std::string View::text(std::uint32_t slot, catalog::MetricId id, unsigned instance) const {
  const catalog::Metric& metric = catalog::metric(id);
  catalog::Row row(metric.scope, metric.lane);
  if (!newest_row(slot, metric.lane, row)) return {};
  return std::string(row.text(id, instance));
}

bool View::newest_row(std::uint32_t slot, Lane lane, catalog::Row& row) const {
  const auto ring = recorder_->find_ring(slot, lane);
  if (!ring || recorder_->ring(*ring).scope != row.scope()) return false;
  const std::int64_t rows_before_ns = recorder_->device(slot).rows_before_ns;
  std::uint64_t end = end_at(*ring, now_ns());
  const std::uint64_t oldest = recorder_->oldest(*ring);
  for (unsigned tries = 0; end > oldest && tries < kBadRows; ++tries) {
    if (recorder_->read(*ring, --end, row) == RowState::kOk) return row.time_ns >= rows_before_ns;
  }
  return false;
}

std::int64_t View::usual_period_ns(std::uint32_t slot, Lane lane) const {
  const std::int64_t lane_ns = lane_period_ns(lane);
  const recorder::Device device = recorder_->device(slot);
  const bool is_mig = device.scope == catalog::Scope::kGpu && device.parent != recorder::kNoParent;
  // An instance that has just come has no gaps between rows yet, or the short one before its first
  // whole period.
  return is_mig && lane_ns != 0 ? std::max(lane_ns, kMigPeriodNs) : lane_ns;
}

std::int64_t View::period_ns(std::uint32_t ring) const {
  const recorder::Ring& shape = recorder_->ring(ring);
  const std::int64_t usual = usual_period_ns(shape.device, shape.lane);
  if (usual == 0) return 0;
  std::uint64_t end = end_at(ring, now_ns());
  const std::uint64_t oldest = recorder_->oldest(ring);
  std::optional<std::int64_t> later;
  std::int64_t shortest = 0;
  for (unsigned gaps = 0, looked = 0; end > oldest && gaps < kGaps && looked < kGapRows; ++looked) {
    const auto time = recorder_->read_time(ring, --end);
    if (!time) break;
    if (later) {
      if (*later == *time) continue;  // the rows of one listing
      shortest = shortest == 0 ? *later - *time : std::min(shortest, *later - *time);
      ++gaps;
    }
    later = time;
  }
  return std::max(usual, shortest);
}

std::int64_t View::period_ns(const Handle& handle) const {
  if (handle.ring == Handle::kNoRing) return 0;
  return std::max<std::int64_t>(period_ns(handle.ring),
                                catalog::metric(handle.id).period_ms * kMillisecond);
}

std::string_view absence_name(const Latest& latest) {
  switch (latest.absence) {
    case Absence::kStale:
      return "stale";
    case Absence::kNoRows:
      return "no_rows";
    case Absence::kNoRing:
      return catalog::state_name(catalog::State::kNotSupported);
    case Absence::kPresent:
    case Absence::kState:
    case Absence::kDevice:
      break;
  }
  return catalog::state_name(latest.reading.state);
}

}  // namespace everywatt::view
