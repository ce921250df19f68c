// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "catalog/row.h"
#include "record/recorder/check_word.h"
#include "record/recorder/tables.h"

// What is taken in here may come from a crash, another version or an enemy. Every number is copied
// out of the mapping once and then judged: a writer who changes it later changes nothing.
namespace everywatt::recorder {
namespace {

using base::Code;

// Copies `bytes` (whole words) of a slot, entry or header to the start of `to`.
template <typename To>
void copy_words(To& to, const std::byte* from, std::size_t bytes) {
  const auto* words = reinterpret_cast<const Word*>(from);
  for (std::size_t i = 0; i < bytes / sizeof(Word); ++i) {
    const std::uint64_t word = words[i].load(std::memory_order_relaxed);
    std::memcpy(reinterpret_cast<std::byte*>(&to) + i * sizeof(word), &word, sizeof(word));
  }
}

std::uint64_t check_words(const std::byte* from, std::uint64_t bytes, std::uint64_t check) {
  const auto* words = reinterpret_cast<const Word*>(from);
  for (std::uint64_t i = 0; i < bytes / sizeof(Word); ++i) {
    check = mix_word(check, words[i].load(std::memory_order_relaxed));
  }
  return check;
}

constexpr std::size_t kHeaderConstantBytes = offsetof(Header, wall_offset_ns);

struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Parser {
 public:
  Parser(const std::byte* file, std::uint64_t size, std::string_view name)
      : file_(file), size_(size), name_(name) {}

  base::Result<Tables> parse();

 private:
  std::unexpected<base::Error> damaged(std::string_view what) const {
    return base::fail(Code::kCorrupt, fmt::format("{} is damaged: {}", name_, what));
  }
  base::Status take_header();
  base::Status place_table(std::uint64_t offset, std::uint32_t count, std::uint32_t entry_bytes,
                           std::size_t least_bytes, std::uint32_t most, std::string_view what);
  base::Status take_catalog();
  base::Status take_devices();
  base::Status take_rings();
  base::Status check_ring(const RingConstants& ring);
  base::Status check_apart();

  const std::byte* file_;
  std::uint64_t size_;
  std::string_view name_;
  Header header_{};
  Tables tables_;
  std::vector<Extent> extents_;
  // By scope and lane: cells that a row needs for the columns of the catalog copy.
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::uint32_t> cells_needed_;
};

base::Status Parser::take_header() {
  if (size_ < sizeof(Word)) {
    return base::fail(Code::kCorrupt, fmt::format("{} is not a recorder file", name_));
  }
  copy_words(header_, file_, sizeof(Word));
  if (header_.magic != kMagic) {
    return base::fail(Code::kCorrupt, fmt::format("{} is not a recorder file", name_));
  }
  if (size_ < sizeof(Header)) return damaged(fmt::format("it ends after {} bytes", size_));
  copy_words(header_, file_, kHeaderConstantBytes);
  if (header_.version != kVersion) {
    const bool is_newer = header_.version > kVersion;
    return base::fail(
        Code::kNotSupported,
        fmt::format("{} was made by {} version of Everywatt: format {}, this one reads {}", name_,
                    is_newer ? "a newer" : "an older", header_.version, kVersion),
        is_newer ? "read it with that version or a later one" : "");
  }
  if (header_.header_check != compute_header_check(file_)) {
    return damaged("its header does not match its check word");
  }
  if (header_.header_bytes < sizeof(Header) || header_.header_bytes > kPageBytes) {
    return damaged(fmt::format("its header has {} bytes", header_.header_bytes));
  }
  if (header_.file_bytes > size_) {
    return damaged(fmt::format("{} of its {} bytes are there", size_, header_.file_bytes));
  }
  tables_.source = static_cast<Source>(header_.source);
  std::copy(std::begin(header_.boot_id), std::end(header_.boot_id), tables_.origin.boot_id.begin());
  tables_.origin.created_ns = header_.created_ns;
  tables_.origin.created_wall_ns = header_.created_wall_ns;
  tables_.file_bytes = header_.file_bytes;
  extents_.push_back({.begin = 0, .end = header_.header_bytes});
  return {};
}

base::Status Parser::place_table(std::uint64_t offset, std::uint32_t count,
                                 std::uint32_t entry_bytes, std::size_t least_bytes,
                                 std::uint32_t most, std::string_view what) {
  if (count > most) return damaged(fmt::format("it names {} {}", count, what));
  if (entry_bytes < least_bytes || entry_bytes > kMaxEntryBytes ||
      entry_bytes % sizeof(Word) != 0) {
    return damaged(fmt::format("its {} take {} bytes each", what, entry_bytes));
  }
  // 2^15 entries of 2^12 bytes at most: no overflow.
  const std::uint64_t bytes = std::uint64_t{count} * entry_bytes;
  if (offset % sizeof(Word) != 0 || offset > header_.file_bytes ||
      bytes > header_.file_bytes - offset) {
    return damaged(fmt::format("its {} lie at {}, outside of it", what, offset));
  }
  if (bytes > 0) extents_.push_back({.begin = offset, .end = offset + bytes});
  return {};
}

base::Status Parser::take_catalog() {
  tables_.catalog_offset = header_.catalog_offset;
  tables_.catalog_entry_bytes = header_.catalog_entry_bytes;
  for (std::uint32_t i = 0; i < header_.catalog_count; ++i) {
    CatalogEntry entry{};
    copy_words(entry,
               file_ + header_.catalog_offset + std::uint64_t{i} * header_.catalog_entry_bytes,
               sizeof(entry));
    if (entry.name[sizeof(entry.name) - 1] != 0 || entry.unit[sizeof(entry.unit) - 1] != 0 ||
        entry.instance_label[sizeof(entry.instance_label) - 1] != 0) {
      return damaged(fmt::format("the text of metric {} has no end", i));
    }
    // 2^16 instances of 2^16 cells at most: no overflow.
    const std::uint32_t width = std::max<std::uint32_t>(entry.text_cells, 1);
    const std::uint64_t end = entry.first_cell + std::uint64_t{entry.instances} * width;
    if (end > kMaxRowWords) return damaged(fmt::format("metric {} ends at cell {}", i, end));
    std::uint32_t& needed = cells_needed_[{entry.scope, entry.lane}];
    needed = std::max(needed, static_cast<std::uint32_t>(end));
    tables_.catalog.push_back(entry);
  }
  return {};
}

base::Status Parser::take_devices() {
  tables_.device_offset = header_.device_offset;
  tables_.device_entry_bytes = header_.device_entry_bytes;
  for (std::uint32_t i = 0; i < header_.device_count; ++i) {
    DeviceConstants device;
    copy_words(device,
               file_ + header_.device_offset + std::uint64_t{i} * header_.device_entry_bytes,
               sizeof(device));
    tables_.devices.push_back(device);
  }
  for (const DeviceConstants& device : tables_.devices) {
    if (device.parent == kNoParent) continue;
    if (device.parent >= tables_.devices.size() ||
        tables_.devices[device.parent].parent != kNoParent) {
      return damaged(fmt::format("a device's parent is {}", device.parent));
    }
  }
  return {};
}

base::Status Parser::check_ring(const RingConstants& ring) {
  if (ring.device >= tables_.devices.size()) {
    return damaged(fmt::format("a ring belongs to device {}", ring.device));
  }
  if (ring.writer >= kPartCount) return damaged(fmt::format("a ring's writer is {}", ring.writer));
  if (ring.cells == 0 || ring.cells > kMaxRowWords || ring.row_words > kMaxRowWords ||
      ring.row_words != row_words(ring.cells)) {
    return damaged(fmt::format("a row has {} cells in {} words", ring.cells, ring.row_words));
  }
  const auto needed = cells_needed_.find({tables_.devices[ring.device].scope, ring.lane});
  if (needed != cells_needed_.end() && needed->second > ring.cells) {
    return damaged(fmt::format("a row has {} cells of {}", ring.cells, needed->second));
  }
  if (ring.capacity == 0 || ring.capacity > kMaxCapacity) {
    return damaged(fmt::format("a ring has {} rows", ring.capacity));
  }
  // 2^28 rows of 2^12 words at most: no overflow.
  const std::uint64_t bytes = ring_bytes(ring.row_words, ring.capacity);
  if (ring.offset % kPageBytes != 0 || ring.offset > header_.file_bytes ||
      bytes > header_.file_bytes - ring.offset) {
    return damaged(fmt::format("a ring lies at {}, outside of it", ring.offset));
  }
  extents_.push_back({.begin = ring.offset, .end = ring.offset + bytes});
  return {};
}

base::Status Parser::take_rings() {
  tables_.ring_offset = header_.ring_offset;
  tables_.ring_entry_bytes = header_.ring_entry_bytes;
  std::vector<std::pair<std::uint32_t, std::uint8_t>> places;
  for (std::uint32_t i = 0; i < header_.ring_count; ++i) {
    RingConstants ring;
    copy_words(ring, file_ + header_.ring_offset + std::uint64_t{i} * header_.ring_entry_bytes,
               sizeof(ring));
    if (auto status = check_ring(ring); !status) return status;
    places.emplace_back(ring.device, ring.lane);
    tables_.rings.push_back(ring);
  }
  std::ranges::sort(places);
  if (std::ranges::adjacent_find(places) != places.end()) {
    return damaged("a device has two rings of one lane");
  }
  return {};
}

base::Status Parser::check_apart() {
  std::ranges::sort(extents_, {}, &Extent::begin);
  for (std::size_t i = 1; i < extents_.size(); ++i) {
    if (extents_[i].begin < extents_[i - 1].end) {
      return damaged(fmt::format("two parts of it overlap at {}", extents_[i].begin));
    }
  }
  return {};
}

base::Result<Tables> Parser::parse() {
  const Header& h = header_;
  base::Status status = take_header();
  if (status) {
    status = place_table(h.catalog_offset, h.catalog_count, h.catalog_entry_bytes,
                         sizeof(CatalogEntry), kMaxCatalogEntries, "metrics");
  }
  if (status) {
    status = place_table(h.device_offset, h.device_count, h.device_entry_bytes, sizeof(DeviceSlot),
                         kMaxDevices, "devices");
  }
  if (status) {
    status = place_table(h.ring_offset, h.ring_count, h.ring_entry_bytes, sizeof(RingEntry),
                         kMaxRings, "rings");
  }
  if (status) status = take_catalog();
  if (status) status = take_devices();
  if (status) status = take_rings();
  if (status) status = check_apart();
  if (status && h.tables_check != compute_tables_check(file_, tables_)) {
    status = damaged("its tables do not match their check word");
  }
  if (!status) return std::unexpected(std::move(status).error());
  return std::move(tables_);
}

}  // namespace

std::uint64_t compute_header_check(const std::byte* file) {
  return check_words(file, offsetof(Header, header_check), kCheckSeed);
}

std::uint64_t compute_tables_check(const std::byte* file, const Tables& tables) {
  std::uint64_t check =
      check_words(file + tables.catalog_offset,
                  tables.catalog.size() * std::uint64_t{tables.catalog_entry_bytes}, kCheckSeed);
  for (std::size_t i = 0; i < tables.devices.size(); ++i) {
    check = check_words(file + tables.device_offset + i * tables.device_entry_bytes,
                        kDeviceConstantBytes, check);
  }
  for (std::size_t i = 0; i < tables.rings.size(); ++i) {
    check = check_words(file + tables.ring_offset + i * tables.ring_entry_bytes, kRingConstantBytes,
                        check);
  }
  return check;
}

base::Result<Tables> parse_tables(const std::byte* file, std::uint64_t size,
                                  std::string_view name) {
  return Parser(file, size, name).parse();
}

}  // namespace everywatt::recorder
