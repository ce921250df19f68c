// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "catalog/row.h"
#include "record/recorder/format.h"
#include "record/recorder/layout.h"
#include "record/recorder/row_state.h"

namespace everywatt::recorder {

struct Ring {
  std::uint32_t device = 0;
  catalog::Scope scope{};
  catalog::Lane lane{};
  Part writer{};
  std::uint64_t capacity = 0;
};

struct Device {
  std::uint32_t slot = 0;
  catalog::Scope scope{};
  std::uint32_t parent = kNoParent;
  DeviceStatus status = DeviceStatus::kUnused;
  std::int64_t status_since_ns = 0;
  std::uint32_t index = 0;
  std::uint64_t generation = 0;
  std::uint64_t call = 0;  // breadcrumb: nvml::Call + 1, 0 none
  std::int64_t call_since_ns = 0;
  std::int64_t rows_before_ns = 0;
};

// For who walks over a ring: when so many rows one after the other are none, the ring says nothing
// true about itself, and there is no more to find. A damaged file may claim rows by the hundred
// million.
inline constexpr std::uint64_t kMostBadRows = 65'536;

class ColumnMap;
struct RingPlace;
struct Tables;

// Read-only view of one recorder file: live, kept, from a crash, of another version, or hostile.
// Every offset and count is checked once in open() and copied; nothing read later is trusted.
// Safe to use from several threads at once. Costs no system call after open(). Never blocks the
// writer. A file that is replaced while mapped stays readable; has_successor() tells. Text comes as
// it was recorded: who shows it to people cleans it, for a file may be forged.
class Reader {
 public:
  // kNotFound, kNoPermission. kInvalidArgument: a symbolic link or no regular file. kCorrupt: not a
  // recorder file, or damaged. kNotSupported: made by a newer or older version.
  static base::Result<std::unique_ptr<Reader>> open(const std::string& path);
  static base::Result<std::unique_ptr<Reader>> adopt(base::UniqueFd fd, const std::string& name);
  ~Reader();

  Source source() const { return source_; }
  std::string boot_id() const;  // as /proc/sys/kernel/random/boot_id writes it
  // Whether the rows' boottimes are this machine's now: else base::boottime_ns() says nothing on
  // their age.
  bool is_of_this_boot() const { return is_of_this_boot_; }
  const Origin& origin() const { return origin_; }
  std::int64_t created_ns() const { return origin_.created_ns; }
  std::int64_t wall_offset_ns() const;
  std::int64_t closed_ns() const;  // 0 while its writers live
  bool has_successor() const;
  const PartSlot& part(Part part) const;
  int fd() const { return mapped_.fd(); }
  std::uint64_t file_bytes() const { return file_bytes_; }

  // Slots that are in use now, in order. Slots of a scope that this version does not know are left
  // out, and a status that it does not know is kFailed.
  std::vector<Device> devices() const;
  // REQUIRES: slot < device_count().
  Device device(std::uint32_t slot) const;
  std::uint32_t device_count() const { return static_cast<std::uint32_t>(devices_.size()); }

  // The ring of a (device, lane), or nothing.
  std::optional<std::uint32_t> find_ring(std::uint32_t device, catalog::Lane lane) const;
  const Ring& ring(std::uint32_t ring) const { return rings_[ring].shape; }
  std::uint32_t ring_count() const { return static_cast<std::uint32_t>(rings_.size()); }

  // Rows [oldest, published) can be tried; the oldest may be lost by the time it is read.
  std::uint64_t published(std::uint32_t ring) const;
  std::uint64_t oldest(std::uint32_t ring) const;

  // Copies row `sequence` into `row`, of the ring's scope and lane. Columns that the file does not
  // have are kNotSupported; columns that this version does not know are skipped. Unless kOk, `row`
  // is clear.
  RowState read(std::uint32_t ring, std::uint64_t sequence, catalog::Row& row) const;

  // One row's time, checked like read() but for the check word. Nothing: not there (any more).
  std::optional<std::int64_t> read_time(std::uint32_t ring, std::uint64_t sequence) const;
  // The first sequence in [oldest, published) whose time is >= `time_ns`, by bisection; published
  // if none. Rows of a ring are in order of time.
  std::uint64_t lower_bound(std::uint32_t ring, std::int64_t time_ns) const;

  // One cell of one row without copying the rest: the fast path of a latest value. Its time and
  // window come with it. Proves like read(), but leaves the check word alone. About 20 ns.
  // REQUIRES: the metric is of the ring's scope and lane, and no text.
  struct Cell {
    catalog::Reading reading;
    std::int64_t time_ns = 0;
    std::int64_t window_start_ns = 0;
    std::int64_t window_end_ns = 0;
  };
  RowState read_cell(std::uint32_t ring, std::uint64_t sequence, catalog::MetricId id,
                     unsigned instance, Cell& cell) const;

  // True when the file's catalog has this metric, in the same scope and lane and of the same type.
  bool has_metric(catalog::MetricId id) const;

 private:
  struct RingState {
    Ring shape;
    std::uint32_t row_words = 0;
    std::uint32_t cells = 0;
    const RingEntry* entry = nullptr;
    const Word* rows = nullptr;
  };
  struct DeviceState {
    std::uint32_t scope = 0;
    std::uint32_t parent = kNoParent;
    const DeviceSlot* slot = nullptr;
    std::array<std::uint32_t, catalog::kLaneCount> rings{};
  };

  Reader(base::MappedFile mapped, const Tables& tables);
  static base::Result<std::unique_ptr<Reader>> take(base::MappedFile mapped,
                                                    const std::string& name);
  static RingPlace place(const RingState& ring);

  base::MappedFile mapped_;
  const Header* header_ = nullptr;
  Source source_{};
  Origin origin_;
  std::uint64_t file_bytes_ = 0;
  bool is_of_this_boot_ = false;
  std::vector<RingState> rings_;
  std::vector<DeviceState> devices_;
  std::unique_ptr<const ColumnMap> columns_;
};

}  // namespace everywatt::recorder
