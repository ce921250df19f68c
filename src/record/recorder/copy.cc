// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

namespace everywatt::recorder {
namespace {

constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcquire = std::memory_order_acquire;

void copy_word(const Word& from, Word& to) {
  to.store(from.load(kAcquire), kRelease);
}

std::uint64_t to_word(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

// By slot of `from`: its slot in `to`, or nothing.
std::vector<std::optional<std::uint32_t>> match_slots(const Reader& from, const File& to) {
  std::vector<std::optional<std::uint32_t>> slots(from.device_count());
  std::map<std::pair<catalog::Scope, std::uint32_t>, std::size_t> seen;
  const auto match = [&](std::uint32_t slot, std::uint32_t parent_there) {
    const Device device = from.device(slot);
    if (static_cast<unsigned>(device.scope) >= catalog::kScopeCount) return;
    const auto there = to.slots(device.scope, parent_there);
    const std::size_t place = seen[{device.scope, device.parent}]++;
    if (place < there.size()) slots[slot] = there[place];
  };
  // Parents first: an instance is found by where its GPU went.
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    if (from.device(slot).parent == kNoParent) match(slot, kNoParent);
  }
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    const std::uint32_t parent = from.device(slot).parent;
    if (parent != kNoParent && slots[parent]) match(slot, *slots[parent]);
  }
  return slots;
}

void copy_device(const Device& from, DeviceSlot& to) {
  to.index.store(from.index, kRelease);
  to.generation.store(from.generation, kRelease);
  to.call_since_ns.store(to_word(from.call_since_ns), kRelease);
  to.call.store(from.call, kRelease);
  to.rows_before.store(to_word(from.rows_before_ns), kRelease);
  to.status_since_ns.store(to_word(from.status_since_ns), kRelease);
  to.status.store(static_cast<std::uint64_t>(from.status), kRelease);
}

void copy_header(const Reader& from, File& to) {
  to.header().wall_offset_ns.store(to_word(from.wall_offset_ns()), kRelease);
  for (unsigned i = 0; i < kPartCount; ++i) {
    const PartSlot& part = from.part(static_cast<Part>(i));
    PartSlot& there = to.part(static_cast<Part>(i));
    copy_word(part.pid, there.pid);
    copy_word(part.started_ns, there.started_ns);
    copy_word(part.heartbeat_ns, there.heartbeat_ns);
    copy_word(part.starts, there.starts);
  }
}

// Reads the rows [next, published) and hands each whole one to `take`; leaves `next` behind the
// last that was tried. REQUIRES: take returns base::Status.
template <typename Take>
base::Status for_new_rows(const Reader& from, std::uint32_t ring, std::uint64_t& next,
                          CopyCount& count, Take take) {
  catalog::Row row(from.ring(ring).scope, from.ring(ring).lane);
  const std::uint64_t end = from.published(ring);
  std::uint64_t bad_rows = 0;
  while (next < end) {
    if (bad_rows == kMostBadRows) {
      count.damaged += end - next;
      next = end;
      break;
    }
    ++bad_rows;
    if (const std::uint64_t oldest = from.oldest(ring); next < oldest) {
      count.lost += std::min(oldest, end) - next;
      next = oldest;
      continue;
    }
    switch (from.read(ring, next, row)) {
      case RowState::kOk:
        if (auto status = take(row); !status) return status;
        ++count.copied;
        bad_rows = 0;
        break;
      case RowState::kLost:
        ++count.lost;
        break;
      case RowState::kNotYet:
        return {};
      case RowState::kDamaged:
        ++count.damaged;
        break;
    }
    ++next;
  }
  return {};
}

bool is_same_file(const Origin& a, const Origin& b) {
  return a.boot_id == b.boot_id && a.created_ns == b.created_ns &&
         a.created_wall_ns == b.created_wall_ns;
}

// A file with the slots and rings of `from`, less those of a scope that this version does not know.
// `capacity` tells the rows of each ring.
template <typename Capacity>
LayoutOptions layout_like(const Reader& from, Source source, Capacity capacity) {
  LayoutOptions layout{.source = source, .devices = {}, .origin = from.origin()};
  std::vector<std::uint32_t> places(from.device_count(), kNoParent);
  for (std::uint32_t slot = 0; slot < from.device_count(); ++slot) {
    const Device device = from.device(slot);
    if (static_cast<unsigned>(device.scope) >= catalog::kScopeCount) continue;
    places[slot] = static_cast<std::uint32_t>(layout.devices.size());
    layout.devices.push_back({.scope = device.scope, .parent = device.parent});
  }
  for (DevicePlan& device : layout.devices) {
    if (device.parent != kNoParent) device.parent = places[device.parent];
  }
  for (std::uint32_t i = 0; i < from.ring_count(); ++i) {
    const Ring& ring = from.ring(i);
    layout.rings.push_back(
        {.device = places[ring.device], .lane = ring.lane, .capacity = capacity(i, ring)});
  }
  return layout;
}

// Recording a file into itself would take its name away from its writers.
base::Status check_is_other(const Reader& from, const std::string& path) {
  struct stat source{};
  struct stat target{};
  if (::fstat(from.fd(), &source) != 0 || ::stat(path.c_str(), &target) != 0) return {};
  if (source.st_dev != target.st_dev || source.st_ino != target.st_ino) return {};
  return base::fail(base::Code::kInvalidArgument,
                    path + " is the recorder file that is to be copied", "choose another name");
}

}  // namespace

base::Result<CopyCount> copy(const Reader& from, File& to) {
  CopyCount count;
  const auto slots = match_slots(from, to);
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot]) copy_device(from.device(slot), to.device(*slots[slot]));
  }
  copy_header(from, to);
  for (std::uint32_t ring = 0; ring < from.ring_count(); ++ring) {
    const auto slot = slots[from.ring(ring).device];
    if (!slot || from.published(ring) == 0) continue;
    auto writer = to.writer(*slot, from.ring(ring).lane);
    if (!writer && writer.error().code == base::Code::kNotFound) continue;
    if (!writer) return std::unexpected(writer.error());
    std::uint64_t next = from.oldest(ring);
    const auto status = for_new_rows(from, ring, next, count, [&](const catalog::Row& row) {
      writer->append(row);
      return base::Status();
    });
    if (!status) return std::unexpected(status.error());
  }
  return count;
}

base::Result<std::unique_ptr<Recording>> Recording::create(const Reader& from,
                                                           const Options& options) {
  if (auto status = check_is_other(from, options.path); !status) {
    return std::unexpected(status.error());
  }
  const LayoutOptions layout =
      layout_like(from, options.source, [&](std::uint32_t, const Ring& ring) {
        const std::uint64_t wanted =
            options.capacity[static_cast<unsigned>(ring.scope)][static_cast<unsigned>(ring.lane)];
        return wanted == 0 ? ring.capacity : wanted;
      });
  auto file = File::create(options.path, options.mode, layout);
  if (!file) return std::unexpected(file.error());
  std::unique_ptr<Recording> recording(new Recording(options, std::move(*file)));
  recording->turn_to(from);
  return recording;
}

Recording::Recording(Options options, std::unique_ptr<File> file)
    : options_(std::move(options)),
      file_(std::move(file)),
      places_(std::size_t{file_->device_count()} * catalog::kLaneCount) {}

Recording::~Recording() = default;

Recording::Place& Recording::place(std::uint32_t slot, catalog::Lane lane) {
  return places_[std::size_t{slot} * catalog::kLaneCount + static_cast<unsigned>(lane)];
}

// Sequences of one file say nothing in another, times do.
void Recording::turn_to(const Reader& from) {
  source_ = from.origin();
  slots_ = match_slots(from, *file_);
  for (std::uint32_t i = 0; i < from.ring_count(); ++i) {
    const Ring& ring = from.ring(i);
    if (!slots_[ring.device]) continue;
    Place& there = place(*slots_[ring.device], ring.lane);
    there.next = there.has_rows ? from.lower_bound(i, there.last_time_ns + 1) : from.oldest(i);
  }
}

base::Result<CopyCount> Recording::copy_new(const Reader& from) {
  if (from.origin().boot_id != source_.boot_id) {
    return base::fail(base::Code::kInvalidArgument,
                      "the recorder is of another boot than what was copied before");
  }
  if (!is_same_file(from.origin(), source_)) turn_to(from);
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot]) copy_device(from.device(slot), file_->device(*slots_[slot]));
  }
  copy_header(from, *file_);
  CopyCount count;
  for (std::uint32_t i = 0; i < from.ring_count(); ++i) {
    const Ring& ring = from.ring(i);
    if (!slots_[ring.device]) continue;
    const std::uint32_t slot = *slots_[ring.device];
    const auto status = for_new_rows(from, i, place(slot, ring.lane).next, count,
                                     [&](const catalog::Row& row) { return append(slot, row); });
    if (!status) return std::unexpected(status.error());
  }
  return count;
}

base::Status Recording::append(std::uint32_t slot, const catalog::Row& row) {
  Place& there = place(slot, row.lane());
  if (there.writer && there.writer->published() == there.writer->capacity()) {
    if (auto status = grow(); !status) return status;
  }
  if (!there.writer) {
    auto writer = file_->writer(slot, row.lane());
    // A ring that the first source did not have.
    if (!writer && writer.error().code == base::Code::kNotFound) return {};
    if (!writer) return std::unexpected(writer.error());
    there.writer = *writer;
  }
  there.writer->append(row);
  there.last_time_ns = row.time_ns;
  there.has_rows = true;
  return {};
}

// Rings of one cadence fill up together, so all that are half full are doubled at once. The larger
// file gets the name when it holds all that the smaller one does.
base::Status Recording::grow() {
  base::UniqueFd fd(::fcntl(file_->fd(), F_DUPFD_CLOEXEC, 0));
  if (!fd.is_open()) return base::fail_errno("keep open", options_.path);
  auto own = Reader::adopt(std::move(fd), options_.path);
  if (!own) return std::unexpected(own.error());
  const Reader& before = **own;
  const LayoutOptions layout =
      layout_like(before, options_.source, [&](std::uint32_t i, const Ring& ring) {
        const bool is_half_full = before.published(i) >= (ring.capacity + 1) / 2;
        return is_half_full ? 2 * ring.capacity : ring.capacity;
      });
  auto file = File::prepare(options_.path, options_.mode, layout);
  if (!file) return std::unexpected(file.error());
  if (auto copied = copy(before, **file); !copied) return std::unexpected(copied.error());
  if (auto named = (*file)->commit(); !named) return named;
  file_ = std::move(*file);
  for (Place& each : places_)
    each.writer.reset();
  return {};
}

void Recording::close(std::int64_t now_ns) {
  file_->header().closed_ns.store(to_word(now_ns), kRelease);
}

}  // namespace everywatt::recorder
