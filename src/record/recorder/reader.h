// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "catalog/row.h"
#include "record/recorder/format.h"

namespace everywatt::recorder {

// What a read of one row met.
enum class RowState {
  kOk,
  kNotYet,   // not published
  kLost,     // overwritten before or while it was read
  kDamaged,  // its check word is wrong
};

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

// Read-only view of one recorder file: live, kept, from a crash, of another version, or hostile.
// Every offset and count is checked once in open() and copied; nothing read later is trusted.
// Safe to use from several threads at once. Costs no system call after open(). Never blocks the
// writer. A file that is replaced while mapped stays readable; has_successor() tells.
class Reader {
 public:
  static base::Result<std::unique_ptr<Reader>> open(const std::string& path);
  static base::Result<std::unique_ptr<Reader>> adopt(base::UniqueFd fd, const std::string& name);

  Source source() const;
  std::string boot_id() const;  // as /proc/sys/kernel/random/boot_id writes it
  std::int64_t created_ns() const;
  std::int64_t wall_offset_ns() const;
  std::int64_t closed_ns() const;  // 0 while its writers live
  bool has_successor() const;
  const PartSlot& part(Part part) const;
  std::uint64_t file_bytes() const;

  std::vector<Device> devices() const;  // used slots only, as of now
  Device device(std::uint32_t slot) const;

  // The ring of a (device, lane), or nothing.
  std::optional<std::uint32_t> find_ring(std::uint32_t device, catalog::Lane lane) const;
  const Ring& ring(std::uint32_t ring) const { return rings_[ring].shape; }
  std::uint32_t ring_count() const { return static_cast<std::uint32_t>(rings_.size()); }

  // Rows [oldest, published) can be tried; the oldest may be lost by the time it is read.
  std::uint64_t published(std::uint32_t ring) const;
  std::uint64_t oldest(std::uint32_t ring) const;

  // Copies row `sequence` into `row`, of the ring's scope and lane. Columns that the file does not
  // have are kNotSupported; columns that this version does not know are skipped.
  RowState read(std::uint32_t ring, std::uint64_t sequence, catalog::Row& row) const;

  // One row's time, checked like read() but for the check word. Nothing: not there (any more).
  std::optional<std::int64_t> read_time(std::uint32_t ring, std::uint64_t sequence) const;
  // The first sequence in [oldest, published) whose time is >= `time_ns`, by bisection; published if
  // none. Rows of a ring are in order of time.
  std::uint64_t lower_bound(std::uint32_t ring, std::int64_t time_ns) const;

  // One cell of one row without copying the rest: the fast path of a latest value. Its time and
  // window come with it. Proves like read(), but leaves the check word alone.
  struct Cell {
    catalog::Reading reading;
    std::int64_t time_ns = 0;
    std::int64_t window_start_ns = 0;
    std::int64_t window_end_ns = 0;
  };
  RowState read_cell(std::uint32_t ring, std::uint64_t sequence, catalog::MetricId id,
                     unsigned instance, Cell& cell) const;

  // True when the file's catalog has this metric.
  bool has_metric(catalog::MetricId id) const;

 private:
  struct RingState {
    Ring shape;
    std::uint32_t cells = 0;
    std::uint32_t row_words = 0;
    const RingEntry* entry = nullptr;
    const Word* rows = nullptr;
  };
  // Where a known metric's cells lie in this file's rows; cells == 0: the file lacks it.
  struct FileColumn {
    std::uint32_t first_cell = 0;
    std::uint32_t cells = 0;
  };

  Reader() = default;
  base::MappedFile mapped_;
  const Header* header_ = nullptr;
  std::uint32_t device_count_ = 0;
  std::uint32_t device_entry_bytes_ = 0;
  std::uint64_t device_offset_ = 0;
  std::vector<RingState> rings_;
  std::vector<std::vector<std::uint32_t>> rings_by_device_;  // [device][lane], 0xffffffff: none
  std::vector<FileColumn> columns_;                          // by MetricId
};

}  // namespace everywatt::recorder
