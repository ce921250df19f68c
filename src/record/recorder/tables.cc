// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "record/recorder/check_word.h"

namespace everywatt::recorder {
namespace {

using catalog::Lane;
using catalog::Scope;

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

template <std::size_t kSize>
void copy_text(char (&to)[kSize], std::string_view text) {
  CHECK(text.size() < kSize);
  text.copy(to, text.size());
}

// Who writes a lane. What a part counts about itself it writes itself; of the rest the host process
// writes what the operating system tells and the sampler what the driver tells.
Part writer_of(Scope scope, Lane lane, unsigned part) {
  if (scope == Scope::kPart && lane != Lane::kPart) return static_cast<Part>(part % kPartCount);
  if (scope == Scope::kGpu && lane != Lane::kHost && lane != Lane::kHostProcess) {
    return Part::kSampler;
  }
  // The journal's: who takes marks from outside.
  if (scope == Scope::kNode && lane == Lane::kEvent) return Part::kServer;
  return Part::kHost;
}

// Which of the parts each device is; 0 for other devices.
std::vector<unsigned> number_parts(const std::vector<DevicePlan>& devices) {
  std::vector<unsigned> numbers;
  unsigned next = 0;
  for (const DevicePlan& device : devices) {
    numbers.push_back(device.scope == Scope::kPart ? next++ : 0);
  }
  return numbers;
}

std::vector<RingPlan> plan_rings(const LayoutOptions& options) {
  if (!options.rings.empty()) return options.rings;
  std::vector<RingPlan> rings;
  for (std::uint32_t slot = 0; slot < options.devices.size(); ++slot) {
    const DevicePlan& device = options.devices[slot];
    for (unsigned lane = 0; lane < catalog::kLaneCount; ++lane) {
      std::uint64_t capacity = options.capacity[static_cast<unsigned>(device.scope)][lane];
      if (device.parent != kNoParent) capacity = std::min(capacity, options.mig_capacity);
      if (capacity == 0) continue;
      rings.push_back({.device = slot, .lane = static_cast<Lane>(lane), .capacity = capacity});
    }
  }
  return rings;
}

base::Status check_plan(const LayoutOptions& options) {
  const auto& devices = options.devices;
  if (devices.size() > kMaxDevices) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("{} devices are more than the {} that a recorder file may have",
                                  devices.size(), kMaxDevices));
  }
  for (const DevicePlan& device : devices) {
    if (device.parent == kNoParent) continue;
    if (device.parent >= devices.size() || devices[device.parent].parent != kNoParent ||
        devices[device.parent].scope != Scope::kGpu) {
      return base::fail(base::Code::kInvalidArgument,
                        fmt::format("device {} cannot be a parent", device.parent));
    }
  }
  return {};
}

CatalogEntry copy_of(const catalog::Metric& metric, const catalog::Column& column) {
  CatalogEntry entry{};
  copy_text(entry.name, metric.name);
  copy_text(entry.unit, catalog::unit_name(metric.unit));
  copy_text(entry.instance_label, metric.instance_label);
  entry.scope = static_cast<std::uint8_t>(metric.scope);
  entry.lane = static_cast<std::uint8_t>(metric.lane);
  entry.kind = static_cast<std::uint8_t>(metric.kind);
  entry.type = static_cast<std::uint8_t>(metric.type);
  entry.first_cell = column.first_cell;
  entry.instances = metric.instances;
  entry.text_cells = metric.text_cells;
  entry.period_ms = metric.period_ms;
  entry.low = metric.range.low;
  entry.high = metric.range.high;
  entry.resolution = metric.resolution;
  return entry;
}

}  // namespace

std::uint64_t Tables::table_bytes() const {
  return round_up(ring_offset + rings.size() * ring_entry_bytes, kPageBytes);
}

std::vector<CatalogEntry> catalog_copy() {
  std::vector<CatalogEntry> entries;
  const auto metrics = catalog::metrics();
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto id = static_cast<catalog::MetricId>(i);
    entries.push_back(copy_of(metrics[i], catalog::column(id)));
  }
  return entries;
}

base::Result<Tables> plan_tables(const LayoutOptions& options) {
  if (auto status = check_plan(options); !status) return std::unexpected(status.error());
  Tables tables;
  tables.source = options.source;
  tables.origin = options.origin ? *options.origin
                                 : Origin{.boot_id = read_boot_id(),
                                          .created_ns = base::boottime_ns(),
                                          .created_wall_ns = base::walltime_ns()};
  tables.catalog = catalog_copy();
  for (const DevicePlan& device : options.devices) {
    tables.devices.push_back(
        {.scope = static_cast<std::uint32_t>(device.scope), .parent = device.parent});
  }
  const std::vector<unsigned> parts = number_parts(options.devices);
  for (const RingPlan& ring : plan_rings(options)) {
    CHECK(ring.device < options.devices.size());
    const Scope scope = options.devices[ring.device].scope;
    const std::uint32_t cells = catalog::schema(scope, ring.lane).cells;
    if (cells == 0) continue;
    tables.rings.push_back(
        {.device = ring.device,
         .lane = static_cast<std::uint8_t>(ring.lane),
         .writer = static_cast<std::uint8_t>(writer_of(scope, ring.lane, parts[ring.device])),
         .cells = cells,
         .capacity = ring.capacity});
  }
  return place_rings(std::move(tables));
}

base::Result<Tables> place_rings(Tables tables) {
  if (tables.rings.size() > kMaxRings) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("{} rings are more than the {} that a recorder file may have",
                                  tables.rings.size(), kMaxRings));
  }
  tables.catalog_offset = sizeof(Header);
  tables.device_offset = tables.catalog_offset + tables.catalog.size() * sizeof(CatalogEntry);
  tables.ring_offset = tables.device_offset + tables.devices.size() * sizeof(DeviceSlot);
  std::uint64_t offset = tables.table_bytes();
  for (RingConstants& ring : tables.rings) {
    if (ring.capacity > kMaxCapacity) {
      return base::fail(base::Code::kInvalidArgument,
                        fmt::format("{} rows are more than the {} that a ring may have",
                                    ring.capacity, kMaxCapacity));
    }
    ring.row_words = row_words(ring.cells);
    CHECK(ring.row_words <= kMaxRowWords);
    ring.offset = offset;
    offset += ring_bytes(ring.row_words, ring.capacity);
  }
  tables.file_bytes = offset;
  return tables;
}

void write_tables(const Tables& tables, std::byte* file) {
  auto* header = new (file) Header{};
  header->magic = kMagic;
  header->version = kVersion;
  header->header_bytes = sizeof(Header);
  header->file_bytes = tables.file_bytes;
  std::copy(tables.origin.boot_id.begin(), tables.origin.boot_id.end(), header->boot_id);
  header->created_ns = tables.origin.created_ns;
  header->created_wall_ns = tables.origin.created_wall_ns;
  header->catalog_count = static_cast<std::uint32_t>(tables.catalog.size());
  header->catalog_entry_bytes = sizeof(CatalogEntry);
  header->device_count = static_cast<std::uint32_t>(tables.devices.size());
  header->device_entry_bytes = sizeof(DeviceSlot);
  header->ring_count = static_cast<std::uint32_t>(tables.rings.size());
  header->ring_entry_bytes = sizeof(RingEntry);
  header->catalog_offset = tables.catalog_offset;
  header->device_offset = tables.device_offset;
  header->ring_offset = tables.ring_offset;
  header->source = static_cast<std::uint32_t>(tables.source);
  for (std::size_t i = 0; i < tables.catalog.size(); ++i) {
    std::memcpy(file + tables.catalog_offset + i * sizeof(CatalogEntry), &tables.catalog[i],
                sizeof(CatalogEntry));
  }
  for (std::size_t i = 0; i < tables.devices.size(); ++i) {
    auto* slot = new (file + tables.device_offset + i * sizeof(DeviceSlot)) DeviceSlot{};
    slot->scope = tables.devices[i].scope;
    slot->parent = tables.devices[i].parent;
  }
  for (std::size_t i = 0; i < tables.rings.size(); ++i) {
    auto* entry = new (file + tables.ring_offset + i * sizeof(RingEntry)) RingEntry{};
    std::memcpy(static_cast<void*>(entry), &tables.rings[i], kRingConstantBytes);
  }
  header->tables_check = compute_tables_check(file, tables);
  header->header_check = compute_header_check(file);
  header->wall_offset_ns.store(
      static_cast<std::uint64_t>(tables.origin.created_wall_ns - tables.origin.created_ns),
      std::memory_order_release);
}

}  // namespace everywatt::recorder
