// SPDX-License-Identifier: Apache-2.0
#include "app/recording.h"

#include "base/clock.h"
#include "record/recorder/reader.h"

namespace everywatt::app {
namespace {

// What every ring of a daemon's file holds at the default cadence.
constexpr std::int64_t kRingNs = 900'000'000'000;

constexpr unsigned kPublicMode = 0644;
constexpr unsigned kPrivateMode = 0640;

const recorder::Reader* identities_of(const view::View& view, const RecordingOptions& options) {
  return options.with_identities ? view.identities() : nullptr;
}

// Who did what: the people of the identities and of the marks.
bool is_private(const recorder::Ring& shape) {
  return shape.lane == catalog::Lane::kIdentity ||
         (shape.lane == catalog::Lane::kEvent && shape.scope == catalog::Scope::kNode);
}

const recorder::Reader* journal_of(const view::View& view, const RecordingOptions& options) {
  return options.with_identities ? view.journal() : nullptr;
}

// The machine's slot is the first in all files, so identities and marks keep theirs.
void plan_rings(const recorder::Reader& from, const RecordingOptions& options,
                recorder::LayoutOptions& layout) {
  for (std::uint32_t ring = 0; ring < from.ring_count(); ++ring) {
    const recorder::Ring& shape = from.ring(ring);
    if (is_private(shape) && !options.with_identities) continue;
    const auto more = static_cast<double>(options.duration_ns) / kRingNs;
    const std::uint64_t added =
        static_cast<std::uint64_t>(static_cast<double>(shape.capacity) * more) + 1;
    layout.rings.push_back(
        {.device = shape.device, .lane = shape.lane, .capacity = shape.capacity + added});
  }
}

recorder::LayoutOptions plan(const view::View& view, const RecordingOptions& options) {
  const recorder::Reader& from = view.recorder();
  recorder::LayoutOptions layout{.source = recorder::Source::kRecording, .devices = {}};
  for (std::uint32_t slot = 0; slot < from.device_count(); ++slot) {
    const recorder::Device device = from.device(slot);
    layout.devices.push_back({.scope = device.scope, .parent = device.parent});
  }
  layout.origin = from.origin();
  plan_rings(from, options, layout);
  const recorder::Reader* identities = identities_of(view, options);
  if (identities != nullptr && identities != &from) plan_rings(*identities, options, layout);
  if (const auto* journal = journal_of(view, options)) plan_rings(*journal, options, layout);
  return layout;
}

}  // namespace

base::Result<std::unique_ptr<Recording>> Recording::open(const view::View& view,
                                                         const RecordingOptions& options) {
  const recorder::Reader* identities = identities_of(view, options);
  const recorder::Reader* journal = journal_of(view, options);
  const bool is_public = identities == nullptr && journal == nullptr;
  auto file = recorder::File::prepare(options.path, is_public ? kPublicMode : kPrivateMode,
                                      plan(view, options));
  if (!file) return std::unexpected(file.error());
  std::unique_ptr<Recording> recording(new Recording(view));
  recording->file_ = *std::move(file);
  recording->add_rings(view.recorder());
  if (identities != nullptr && identities != &view.recorder()) recording->add_rings(*identities);
  if (journal != nullptr) recording->add_rings(*journal);
  if (!options.with_identities) {
    std::erase_if(recording->rings_,
                  [](const Ring& ring) { return is_private(ring.from->ring(ring.number)); });
  }
  if (auto taken = recording->take_new(); !taken) return std::unexpected(taken.error());
  if (auto named = recording->file_->commit(); !named) return std::unexpected(named.error());
  return recording;
}

void Recording::add_rings(const recorder::Reader& from) {
  for (std::uint32_t number = 0; number < from.ring_count(); ++number) {
    Ring ring;
    ring.from = &from;
    ring.number = number;
    ring.device = from.ring(number).device;
    rings_.push_back(std::move(ring));
  }
}

base::Status Recording::take_new() {
  for (Ring& ring : rings_) {
    if (auto taken = take_ring(ring); !taken) return taken;
  }
  copy_devices();
  return {};
}

base::Status Recording::take_ring(Ring& ring) {
  const std::uint64_t end = ring.from->published(ring.number);
  if (ring.next == end) return {};
  const recorder::Ring& shape = ring.from->ring(ring.number);
  if (!ring.writer) {
    auto writer = file_->writer(ring.device, shape.lane);
    if (!writer) return std::unexpected(writer.error());
    ring.writer = std::make_unique<recorder::Writer>(*std::move(writer));
    ring.row = std::make_unique<catalog::Row>(shape.scope, shape.lane);
    ring.next = ring.from->oldest(ring.number);  // what is older was lost to nobody
  }
  const std::uint64_t oldest = ring.from->oldest(ring.number);
  if (oldest > ring.next) {
    lost_rows_ += oldest - ring.next;
    ring.next = oldest;
  }
  for (; ring.next < end; ++ring.next) {
    if (ring.from->read(ring.number, ring.next, *ring.row) == recorder::RowState::kOk) {
      ring.writer->append(*ring.row);
      ++rows_;
    } else {
      ++lost_rows_;
    }
  }
  return {};
}

void Recording::copy_devices() {
  const recorder::Reader& from = view_.recorder();
  for (const recorder::Device& device : from.devices()) {
    recorder::DeviceSlot& slot = file_->device(device.slot);
    slot.index.store(device.index);
    slot.generation.store(device.generation);
    slot.rows_before.store(static_cast<std::uint64_t>(device.rows_before_ns));
    slot.status_since_ns.store(static_cast<std::uint64_t>(device.status_since_ns));
    slot.status.store(static_cast<std::uint64_t>(device.status));
  }
  file_->header().wall_offset_ns.store(static_cast<std::uint64_t>(from.wall_offset_ns()));
}

void Recording::close() {
  file_->header().closed_ns.store(static_cast<std::uint64_t>(base::boottime_ns()));
}

}  // namespace everywatt::app
