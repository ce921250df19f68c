// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "record/recorder/ring_access.h"
#include "record/recorder/small_file.h"

// For this room's tests and docs/recorder_format.md: the smallest file that shows everything. Its
// catalog is its own, so the page and the corpus stay as they are when the catalog grows.
namespace everywatt::recorder {

inline CatalogEntry example_entry(std::string_view name, std::string_view unit, catalog::Type type,
                                  std::uint16_t first_cell, std::uint32_t period_ms, double high) {
  CatalogEntry entry{};
  name.copy(entry.name, sizeof(entry.name) - 1);
  unit.copy(entry.unit, sizeof(entry.unit) - 1);
  entry.scope = static_cast<std::uint8_t>(catalog::Scope::kGpu);
  entry.lane = static_cast<std::uint8_t>(catalog::Lane::kGauge);
  entry.kind = static_cast<std::uint8_t>(catalog::Kind::kGauge);
  entry.type = static_cast<std::uint8_t>(type);
  entry.first_cell = first_cell;
  entry.instances = 1;
  entry.period_ms = period_ms;
  entry.high = high;
  return entry;
}

// Two metrics, one GPU, one ring of two rows.
inline Tables example_tables() {
  Tables tables;
  tables.source = Source::kLive;
  tables.origin = {.boot_id = {0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78, 0x87, 0x96, 0xa5,
                               0xb4, 0xc3, 0xd2, 0xe1, 0xf0},
                   .created_ns = 60'000'000'000,
                   .created_wall_ns = 1'800'000'000'000'000'000};
  tables.catalog = {
      example_entry("gpu_utilization_ratio", "ratio", catalog::Type::kF64, 0, 200, 1),
      example_entry("gpu_memory_used_bytes", "bytes", catalog::Type::kU64, 1, 0, 0x1p46)};
  tables.devices = {{.scope = static_cast<std::uint32_t>(catalog::Scope::kGpu)}};
  tables.rings = {{.device = 0,
                   .lane = static_cast<std::uint8_t>(catalog::Lane::kGauge),
                   .writer = static_cast<std::uint8_t>(Part::kSampler),
                   .cells = 2,
                   .capacity = 2}};
  return place_rings(std::move(tables)).value();
}

// The file after `rows` rows, each 100 ms behind the one before. Utilization is read in every
// second.
inline std::vector<std::byte> example_image(std::uint64_t rows) {
  const Tables tables = example_tables();
  std::vector<std::byte> image = image_of(tables);
  auto* slot = reinterpret_cast<DeviceSlot*>(image.data() + tables.device_offset);
  slot->status = static_cast<std::uint64_t>(DeviceStatus::kOk);
  slot->status_since_ns = 60'500'000'000;
  slot->generation = 1;
  auto* entry = reinterpret_cast<RingEntry*>(image.data() + tables.ring_offset);
  entry->allocated = 1;
  auto* words = reinterpret_cast<Word*>(image.data() + tables.rings[0].offset);
  const RingPlace place{.capacity = entry->capacity, .row_words = entry->row_words};
  for (std::uint64_t i = 0; i < rows; ++i) {
    const bool is_due = i % 2 == 0;
    const catalog::Reading utilization = is_due ? catalog::Reading::of(0.25) : catalog::Reading{};
    const catalog::Reading used = catalog::Reading::of(std::uint64_t{0x1234'0000} + i);
    const std::array<std::uint64_t, 3> head{61'000'000'000 + i * 100'000'000, 0, 0};
    const std::array<std::uint64_t, 1> states{static_cast<std::uint64_t>(utilization.state) |
                                              static_cast<std::uint64_t>(used.state) << 4};
    const std::array<std::uint64_t, 2> cells{utilization.bits, used.bits};
    publish_row(*entry, words, place, head, states, cells);
  }
  return image;
}

}  // namespace everywatt::recorder
