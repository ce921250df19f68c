// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "record/recorder/column_map.h"
#include "record/recorder/ring_access.h"
#include "record/recorder/tables.h"

namespace everywatt::recorder {
namespace {

constexpr std::uint32_t kNoRing = 0xffff'ffff;

std::int64_t load_time(const Word& word) {
  return static_cast<std::int64_t>(word.load(std::memory_order_acquire));
}

DeviceStatus status_of(std::uint64_t number) {
  constexpr auto kLast = static_cast<std::uint64_t>(DeviceStatus::kSuspended);
  return number <= kLast ? static_cast<DeviceStatus>(number) : DeviceStatus::kFailed;
}

}  // namespace

base::Result<std::unique_ptr<Reader>> Reader::open(const std::string& path) {
  // Before it is opened: to open a pipe or a device is an act of its own.
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return base::fail_errno("open", path);
  if (S_ISLNK(status.st_mode)) {
    return base::fail(base::Code::kInvalidArgument, fmt::format("{} is a symbolic link", path),
                      "name the file itself");
  }
  if (!S_ISREG(status.st_mode)) {
    return base::fail(base::Code::kInvalidArgument, fmt::format("{} is not a regular file", path));
  }
  auto mapped = base::MappedFile::open(path, base::MapAccess::kReadOnly);
  if (!mapped) return std::unexpected(mapped.error());
  return take(std::move(*mapped), path);
}

base::Result<std::unique_ptr<Reader>> Reader::adopt(base::UniqueFd fd, const std::string& name) {
  auto mapped = base::MappedFile::map(std::move(fd), base::MapAccess::kReadOnly, name);
  if (!mapped) return std::unexpected(mapped.error());
  return take(std::move(*mapped), name);
}

base::Result<std::unique_ptr<Reader>> Reader::take(base::MappedFile mapped,
                                                   const std::string& name) {
  auto tables = parse_tables(mapped.bytes(), mapped.size(), name);
  if (!tables) return std::unexpected(tables.error());
  return std::unique_ptr<Reader>(new Reader(std::move(mapped), *tables));
}

Reader::Reader(base::MappedFile mapped, const Tables& tables)
    : mapped_(std::move(mapped)),
      header_(reinterpret_cast<const Header*>(mapped_.bytes())),
      source_(tables.source),
      origin_(tables.origin),
      file_bytes_(tables.file_bytes),
      is_of_this_boot_(tables.origin.boot_id == read_boot_id()),
      columns_(std::make_unique<const ColumnMap>(tables.catalog)) {
  const std::byte* file = mapped_.bytes();
  for (std::size_t i = 0; i < tables.devices.size(); ++i) {
    const std::byte* slot = file + tables.device_offset + i * tables.device_entry_bytes;
    DeviceState device{.scope = tables.devices[i].scope,
                       .parent = tables.devices[i].parent,
                       .slot = reinterpret_cast<const DeviceSlot*>(slot)};
    device.rings.fill(kNoRing);
    devices_.push_back(device);
  }
  for (std::size_t i = 0; i < tables.rings.size(); ++i) {
    const RingConstants& ring = tables.rings[i];
    DeviceState& device = devices_[ring.device];
    if (device.scope >= catalog::kScopeCount || ring.lane >= catalog::kLaneCount) continue;
    device.rings[ring.lane] = ring_count();
    const std::byte* entry = file + tables.ring_offset + i * tables.ring_entry_bytes;
    rings_.push_back({.shape = {.device = ring.device,
                                .scope = static_cast<catalog::Scope>(device.scope),
                                .lane = static_cast<catalog::Lane>(ring.lane),
                                .writer = static_cast<Part>(ring.writer),
                                .capacity = ring.capacity},
                      .row_words = ring.row_words,
                      .cells = ring.cells,
                      .entry = reinterpret_cast<const RingEntry*>(entry),
                      .rows = reinterpret_cast<const Word*>(file + ring.offset)});
  }
}

Reader::~Reader() = default;

std::string Reader::boot_id() const {
  return format_boot_id(origin_.boot_id);
}

std::int64_t Reader::wall_offset_ns() const {
  return load_time(header_->wall_offset_ns);
}

std::int64_t Reader::closed_ns() const {
  return load_time(header_->closed_ns);
}

bool Reader::has_successor() const {
  return header_->successor.load(std::memory_order_acquire) != 0;
}

const PartSlot& Reader::part(Part part) const {
  return header_->parts[static_cast<unsigned>(part)];
}

std::vector<Device> Reader::devices() const {
  std::vector<Device> used;
  for (std::uint32_t slot = 0; slot < devices_.size(); ++slot) {
    if (devices_[slot].scope >= catalog::kScopeCount) continue;
    Device found = device(slot);
    if (found.status != DeviceStatus::kUnused) used.push_back(found);
  }
  return used;
}

Device Reader::device(std::uint32_t slot) const {
  CHECK(slot < devices_.size());
  const DeviceState& known = devices_[slot];
  const DeviceSlot& live = *known.slot;
  constexpr auto kAcquire = std::memory_order_acquire;
  return {.slot = slot,
          .scope = static_cast<catalog::Scope>(known.scope),
          .parent = known.parent,
          .status = status_of(live.status.load(kAcquire)),
          .status_since_ns = load_time(live.status_since_ns),
          .index = static_cast<std::uint32_t>(live.index.load(kAcquire)),
          .generation = live.generation.load(kAcquire),
          .call = live.call.load(kAcquire),
          .call_since_ns = load_time(live.call_since_ns),
          .rows_before_ns = load_time(live.rows_before)};
}

std::optional<std::uint32_t> Reader::find_ring(std::uint32_t device, catalog::Lane lane) const {
  if (device >= devices_.size()) return std::nullopt;
  const std::uint32_t ring = devices_[device].rings[static_cast<unsigned>(lane)];
  return ring == kNoRing ? std::nullopt : std::optional(ring);
}

std::uint64_t Reader::published(std::uint32_t ring) const {
  return rings_[ring].entry->published.load(std::memory_order_acquire);
}

std::uint64_t Reader::oldest(std::uint32_t ring) const {
  const std::uint64_t next = published(ring);
  const std::uint64_t capacity = rings_[ring].shape.capacity;
  return next > capacity ? next - capacity : 0;
}

RingPlace Reader::place(const RingState& ring) {
  return {.capacity = ring.shape.capacity, .row_words = ring.row_words};
}

RowState Reader::read(std::uint32_t ring, std::uint64_t sequence, catalog::Row& row) const {
  const RingState& from = rings_[ring];
  CHECK(row.scope() == from.shape.scope && row.lane() == from.shape.lane);
  // Not cleared: only the words of the row are written, and only those are read.
  std::array<std::uint64_t, kMaxRowWords> words;  // NOLINT(*-member-init)
  const RowState state = copy_row(*from.entry, from.rows, place(from), sequence, words.data());
  if (state != RowState::kOk) {
    row.clear();
    return state;
  }
  row.time_ns = static_cast<std::int64_t>(words[kTimeWord]);
  row.window_start_ns = static_cast<std::int64_t>(words[kWindowStartWord]);
  row.window_end_ns = static_cast<std::int64_t>(words[kWindowEndWord]);
  const std::span<const std::uint64_t> all(words.data(), from.row_words);
  const std::size_t first_cell = from.row_words - from.cells;
  columns_->fill(all.subspan(kRowHeaderWords, first_cell - kRowHeaderWords),
                 all.subspan(first_cell), row);
  return state;
}

std::optional<std::int64_t> Reader::read_time(std::uint32_t ring, std::uint64_t sequence) const {
  const RingState& from = rings_[ring];
  const RingPlace where = place(from);
  if (find_row(*from.entry, where, sequence) != RowState::kOk) return std::nullopt;
  const std::int64_t time_ns = load_time(from.rows[where.slot_word(sequence) + kTimeWord]);
  if (prove_row(*from.entry, where, sequence) != RowState::kOk) return std::nullopt;
  return time_ns;
}

std::uint64_t Reader::lower_bound(std::uint32_t ring, std::int64_t time_ns) const {
  std::uint64_t first = oldest(ring);
  std::uint64_t last = published(ring);
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    const std::optional<std::int64_t> time = read_time(ring, middle);
    // A row that was overwritten meanwhile was older than all that are left.
    if (!time || *time < time_ns) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

RowState Reader::read_cell(std::uint32_t ring, std::uint64_t sequence, catalog::MetricId id,
                           unsigned instance, Cell& cell) const {
  const RingState& from = rings_[ring];
  const catalog::Metric& metric = catalog::metric(id);
  CHECK(metric.scope == from.shape.scope && metric.lane == from.shape.lane);
  CHECK(metric.type != catalog::Type::kText && instance < metric.instances);
  const RingPlace where = place(from);
  if (const RowState found = find_row(*from.entry, where, sequence); found != RowState::kOk) {
    cell = {};
    return found;
  }
  const Word* const slot = from.rows + where.slot_word(sequence);
  const ColumnMap::Column& column = columns_->column(id);
  catalog::Reading reading = catalog::Reading::absent(catalog::State::kNotSupported);
  if (instance < column.instances) {
    const std::uint32_t place = column.first_cell + instance;
    const Word& states = slot[kRowHeaderWords + place / catalog::kStatesPerWord];
    const std::uint64_t word = states.load(std::memory_order_acquire);
    reading.state = state_of({&word, 1}, place % catalog::kStatesPerWord);
    const Word& value = slot[from.row_words - from.cells + place];
    reading.bits = value.load(std::memory_order_acquire);
    if (!reading.is_ok()) reading.bits = 0;
  }
  cell = {.reading = reading,
          .time_ns = load_time(slot[kTimeWord]),
          .window_start_ns = load_time(slot[kWindowStartWord]),
          .window_end_ns = load_time(slot[kWindowEndWord])};
  const RowState proof = prove_row(*from.entry, where, sequence);
  if (proof != RowState::kOk) cell = {};
  return proof;
}

bool Reader::has_metric(catalog::MetricId id) const {
  return columns_->column(id).instances > 0;
}

}  // namespace everywatt::recorder
