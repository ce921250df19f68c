// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/writer.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "record/recorder/new_file.h"
#include "record/recorder/ring_access.h"
#include "record/recorder/tables.h"

namespace everywatt::recorder {
namespace {

using base::Code;

std::uint64_t to_word(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

// Header, tables and nothing else exist after it; the rings are holes until they are taken.
base::Result<base::MappedFile> map_filled(int fd, const Tables& tables, const std::string& name) {
  if (auto status = set_size(fd, tables.file_bytes, name); !status) {
    return std::unexpected(status.error());
  }
  if (auto status = make_room(fd, 0, tables.table_bytes(), name); !status) {
    return std::unexpected(status.error());
  }
  base::UniqueFd own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own.is_open()) return base::fail_errno("keep open", name);
  auto mapped = base::MappedFile::map(std::move(own), base::MapAccess::kReadWrite, name);
  if (mapped) write_tables(tables, mapped->bytes());
  return mapped;
}

// A row is laid out by the catalog of the program that writes it.
bool is_of_this_version(const Tables& tables) {
  const std::vector<CatalogEntry> ours = catalog_copy();
  if (tables.catalog_entry_bytes != sizeof(CatalogEntry) ||
      tables.device_entry_bytes != sizeof(DeviceSlot) ||
      tables.ring_entry_bytes != sizeof(RingEntry) || tables.catalog.size() != ours.size() ||
      std::memcmp(tables.catalog.data(), ours.data(), ours.size() * sizeof(CatalogEntry)) != 0) {
    return false;
  }
  return std::ranges::all_of(tables.rings, [&](const RingConstants& ring) {
    const std::uint32_t scope = tables.devices[ring.device].scope;
    return scope < catalog::kScopeCount && ring.lane < catalog::kLaneCount &&
           ring.cells == catalog::schema(static_cast<catalog::Scope>(scope),
                                         static_cast<catalog::Lane>(ring.lane))
                             .cells;
  });
}

}  // namespace

File::File(base::MappedFile mapped, Tables tables, std::string name)
    : mapped_(std::move(mapped)),
      header_(reinterpret_cast<Header*>(mapped_.bytes())),
      tables_(std::make_unique<const Tables>(std::move(tables))),
      name_(std::move(name)) {}

File::~File() = default;

base::Result<std::unique_ptr<File>> File::create(const std::string& path, unsigned mode,
                                                 const LayoutOptions& options) {
  auto file = prepare(path, mode, options);
  if (!file) return file;
  if (auto named = (*file)->commit(); !named) return std::unexpected(named.error());
  return file;
}

base::Result<std::unique_ptr<File>> File::prepare(const std::string& path, unsigned mode,
                                                  const LayoutOptions& options) {
  auto tables = plan_tables(options);
  if (!tables) return std::unexpected(tables.error());
  auto place = NewFile::create(path, mode);
  if (!place) return std::unexpected(place.error());
  return fill(std::make_unique<NewFile>(std::move(*place)), std::move(*tables), path);
}

base::Result<std::unique_ptr<File>> File::create_anonymous(const LayoutOptions& options) {
  auto tables = plan_tables(options);
  if (!tables) return std::unexpected(tables.error());
  auto place = NewFile::create_anonymous();
  if (!place) return std::unexpected(place.error());
  auto file = fill(std::make_unique<NewFile>(std::move(*place)), std::move(*tables),
                   "the recorder in memory");
  if (!file) return file;
  if (auto sealed = (*file)->commit(); !sealed) return std::unexpected(sealed.error());
  return file;
}

base::Result<std::unique_ptr<File>> File::fill(std::unique_ptr<NewFile> place, Tables tables,
                                               const std::string& name) {
  auto mapped = map_filled(place->fd(), tables, name);
  if (!mapped) return std::unexpected(mapped.error());
  std::unique_ptr<File> file(new File(std::move(*mapped), std::move(tables), name));
  file->enter_constant_devices();
  file->place_ = std::move(place);
  return file;
}

base::Status File::commit() {
  CHECK(place_ != nullptr);
  auto status = place_->commit();
  place_.reset();
  return status;
}

void File::enter_constant_devices() {
  std::uint64_t part = 0;
  for (std::uint32_t slot = 0; slot < device_count(); ++slot) {
    const auto scope = static_cast<catalog::Scope>(tables_->devices[slot].scope);
    if (scope != catalog::Scope::kNode && scope != catalog::Scope::kPart) continue;
    if (scope == catalog::Scope::kPart) device(slot).index.store(part++, std::memory_order_release);
    set_status(slot, DeviceStatus::kOk, tables_->origin.created_ns);
  }
}

base::Result<std::unique_ptr<File>> File::adopt(base::UniqueFd fd) {
  const std::string name = "the recorder file";
  auto mapped = base::MappedFile::map(std::move(fd), base::MapAccess::kReadWrite, name);
  if (!mapped) return std::unexpected(mapped.error());
  auto tables = parse_tables(mapped->bytes(), mapped->size(), name);
  if (!tables) return std::unexpected(tables.error());
  if (!is_of_this_version(*tables)) {
    return base::fail(Code::kCorrupt, name + " was made by another version of Everywatt");
  }
  return std::unique_ptr<File>(new File(std::move(*mapped), std::move(*tables), name));
}

base::Result<Writer> File::writer(std::uint32_t device, catalog::Lane lane) {
  const auto& rings = tables_->rings;
  const auto found = std::ranges::find_if(rings, [&](const RingConstants& ring) {
    return ring.device == device && ring.lane == static_cast<std::uint8_t>(lane);
  });
  if (found == rings.end()) {
    return base::fail(Code::kNotFound, name_ + " has no ring of lane " +
                                           std::string(catalog::lane_name(lane)) + " for device " +
                                           std::to_string(device));
  }
  const auto number = static_cast<std::uint64_t>(found - rings.begin());
  auto* entry = reinterpret_cast<RingEntry*>(at(tables_->ring_offset + number * sizeof(RingEntry)));
  if (entry->allocated.load(std::memory_order_acquire) == 0) {
    auto status =
        make_room(fd(), found->offset, ring_bytes(found->row_words, found->capacity), name_);
    if (!status) return std::unexpected(status.error());
    entry->allocated.store(1, std::memory_order_release);
  }
  const auto scope = static_cast<catalog::Scope>(tables_->devices[device].scope);
  return Writer(entry, reinterpret_cast<Word*>(at(found->offset)),
                {.capacity = found->capacity, .row_words = found->row_words}, scope, lane);
}

DeviceSlot& File::device(std::uint32_t slot) {
  CHECK(slot < tables_->devices.size());
  return *reinterpret_cast<DeviceSlot*>(at(tables_->device_offset + slot * sizeof(DeviceSlot)));
}

std::vector<std::uint32_t> File::slots(catalog::Scope scope, std::uint32_t parent) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t slot = 0; slot < tables_->devices.size(); ++slot) {
    const DeviceConstants& device = tables_->devices[slot];
    if (device.scope == static_cast<std::uint32_t>(scope) && device.parent == parent) {
      found.push_back(slot);
    }
  }
  return found;
}

void File::set_status(std::uint32_t slot, DeviceStatus status, std::int64_t now_ns) {
  DeviceSlot& device = this->device(slot);
  const auto before = static_cast<DeviceStatus>(device.status.load(std::memory_order_acquire));
  if (status == before) return;
  if (status == DeviceStatus::kOk) device.generation.fetch_add(1, std::memory_order_acq_rel);
  device.status_since_ns.store(to_word(now_ns), std::memory_order_release);
  device.status.store(static_cast<std::uint64_t>(status), std::memory_order_release);
}

bool File::is_in_memory() const {
  return recorder::is_in_memory(fd());
}

void Writer::append(const catalog::Row& row) {
  CHECK(row.scope() == scope_ && row.lane() == lane_);
  const std::array<std::uint64_t, 3> head{to_word(row.time_ns), to_word(row.window_start_ns),
                                          to_word(row.window_end_ns)};
  publish_row(*ring_, rows_, place_, head, row.states(), row.cells());
}

bool Writer::read_last(catalog::Row& row) const {
  CHECK(row.scope() == scope_ && row.lane() == lane_);
  row.clear();
  const std::uint64_t next = published();
  if (next == 0) return false;
  std::vector<std::uint64_t> words(place_.row_words);
  if (copy_row(*ring_, rows_, place_, next - 1, words.data()) != RowState::kOk) return false;
  row.time_ns = static_cast<std::int64_t>(words[kTimeWord]);
  row.window_start_ns = static_cast<std::int64_t>(words[kWindowStartWord]);
  row.window_end_ns = static_cast<std::int64_t>(words[kWindowEndWord]);
  const auto states = std::span(words).subspan(kRowHeaderWords, row.states().size());
  std::ranges::copy(states, row.mutable_states().begin());
  std::ranges::copy(std::span(words).subspan(kRowHeaderWords + states.size()),
                    row.mutable_cells().begin());
  return true;
}

std::uint64_t Writer::published() const {
  return ring_->published.load(std::memory_order_acquire);
}

std::uint64_t Writer::capacity() const {
  return place_.capacity;
}

}  // namespace everywatt::recorder
