// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "catalog/catalog.h"
#include "record/recorder/reader.h"

namespace everywatt::view {

struct Options {
  std::string recorder_path;
  // Who the processes are. Empty: the file `identities` beside the recorder, or none: a file that
  // is missing or may not be read leaves owners unknown, and nothing else.
  std::string identities_path = {};
  // The marks that people set. Empty: `journal` beside the recorder, through a link, too. One that
  // is missing, may not be read or is of another boot adds nothing.
  std::string journal_path = {};
  // What `now` means, in the file's own time. base::boottime_ns: the file is being written on this
  // machine. Empty: the time of its last row. Anything else: a replay.
  base::Clock clock = {};
};

// A (device, metric, instance) looked up once, for reading its values many times. Stays valid as
// long as its View. Also where the file has no such ring: its readings are then absent.
struct Handle {
  std::uint32_t slot = 0;
  std::uint32_t ring = kNoRing;
  catalog::MetricId id{};
  std::uint16_t instance = 0;
  // Older readings are stale: three periods of the source; 0: never (constants, totals of faults).
  std::int64_t stale_after_ns = 0;
  // Rows to look back through for a reading that is not due in each row of its lane.
  std::uint32_t reach_rows = 1;

  static constexpr std::uint32_t kNoRing = 0xffff'ffff;
};

// Why a latest value is absent, beyond the reading's state.
enum class Absence : std::uint8_t {
  kPresent,
  kState,   // the source said so: see the state
  kStale,   // nothing new for three periods
  kDevice,  // the device itself is lost, timed out, drained, gone, or fails as a whole
  kNoRows,  // nothing was recorded yet, or not within reach
  kNoRing,  // this file or kind of device has no such reading
};

struct Latest {
  // kOk with the value, or why there is none now. A stale value is absent.
  catalog::Reading reading;
  Absence absence = Absence::kNoRows;
  // When it was read and what it describes; for an absent one, the row that says so. 0: no row.
  std::int64_t time_ns = 0;
  std::int64_t window_start_ns =
      0;  // 0: the moment, or the window that the metric's meaning states
  std::int64_t window_end_ns = 0;
  std::int64_t age_ns = 0;

  bool is_ok() const { return reading.is_ok(); }
};

// The word for programs why there is no value: "not_supported", "stale", "no_rows".
// REQUIRES: the value is absent.
std::string_view absence_name(const Latest& latest);

// What a recorder file says, at or before now. Reads only. All methods are const and safe from
// several threads, but for set_now(). Owns its readers.
class View {
 public:
  // kNotFound, kNoPermission, kCorrupt for the recorder file; the hint says what to do.
  static base::Result<std::unique_ptr<View>> open(const Options& options);
  // The same over files that are open already (in memory only); `identities` may be null.
  static std::unique_ptr<View> adopt(std::unique_ptr<recorder::Reader> recorder,
                                     std::unique_ptr<recorder::Reader> identities,
                                     base::Clock clock = {});

  // Takes the marks of this file, too, when it is of the recorder's boot; null: none.
  void use_journal(std::unique_ptr<recorder::Reader> journal);

  // Boottime of the machine that wrote the file. Nothing later is looked at.
  std::int64_t now_ns() const;
  // Fixes now. REQUIRES: no other thread reads.
  void set_now(std::int64_t now_ns);
  // When the first and the last row were read, over all rings; 0: none.
  std::int64_t first_row_ns() const;
  std::int64_t last_row_ns() const;
  // People's time of a row's time.
  std::int64_t wall_ns(std::int64_t time_ns) const { return time_ns + recorder_->wall_offset_ns(); }

  Handle handle(std::uint32_t slot, catalog::MetricId id, unsigned instance = 0) const;
  // The newest reading at or before now, past rows in which it was not due or did not move.
  // About 60 ns for one that is in the newest row.
  Latest latest(const Handle& handle) const { return latest_at(handle, now_ns()); }
  // The same as it was at `time_ns`. REQUIRES: not after now.
  Latest latest_at(const Handle& handle, std::int64_t time_ns) const;
  Latest latest(std::uint32_t slot, catalog::MetricId id, unsigned instance = 0) const;
  // As a number in the metric's base unit; nothing when absent. REQUIRES: not text.
  std::optional<double> number(const Handle& handle) const;
  std::optional<double> number(std::uint32_t slot, catalog::MetricId id,
                               unsigned instance = 0) const;
  // "" when absent. REQUIRES: a text metric.
  std::string text(std::uint32_t slot, catalog::MetricId id, unsigned instance = 0) const;

  // The sequence after the last row of `ring` at or before `time_ns`.
  std::uint64_t end_at(std::uint32_t ring, std::int64_t time_ns) const;
  // The newest whole row at or before now into `row`; false: none. REQUIRES: row is of that lane.
  bool newest_row(std::uint32_t slot, catalog::Lane lane, catalog::Row& row) const;
  // The time between rows of the ring's lane: its default, or longer when it runs slower here. A
  // MIG instance's rows come once a second at most.
  std::int64_t period_ns(std::uint32_t ring) const;
  // The same for one metric: a source that refreshes slower than its lane counts.
  std::int64_t period_ns(const Handle& handle) const;

  const recorder::Reader& recorder() const { return *recorder_; }
  // Where the identities are; null: unknown. The recorder itself in a recording that holds both.
  const recorder::Reader* identities() const { return identities_; }
  // The marks that people set; null: unknown.
  const recorder::Reader* journal() const { return journal_.get(); }
  // True when another file has the recorder's or the journal's name now: open that one.
  bool is_replaced() const {
    return recorder_->has_successor() || (journal_ && journal_->has_successor());
  }

 private:
  View() = default;
  Latest find_cell(const Handle& handle, std::int64_t now, std::int64_t rows_before_ns) const;
  Latest find_text(const Handle& handle, std::int64_t now, std::int64_t rows_before_ns) const;
  bool is_stale(const Handle& handle, std::int64_t age_ns) const;
  std::int64_t usual_period_ns(std::uint32_t slot, catalog::Lane lane) const;
  std::uint64_t find_end(std::uint32_t ring, std::int64_t time_ns) const;

  std::unique_ptr<recorder::Reader> recorder_;
  std::unique_ptr<recorder::Reader> own_identities_;
  std::unique_ptr<recorder::Reader> journal_;
  const recorder::Reader* identities_ = nullptr;
  base::Clock clock_;
  std::int64_t fixed_now_ns_ = 0;
  // By ring: where find_end() ended last. A replay asks for the same again and again.
  mutable std::vector<std::atomic<std::uint64_t>> last_ends_;
};

// The default cadence of a lane; 0: it has none (rows come with events or changes).
std::int64_t lane_period_ns(catalog::Lane lane);

}  // namespace everywatt::view
