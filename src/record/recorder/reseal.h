// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "record/recorder/tables.h"

// For tests and fuzzers: a damaged file whose checks are right gets past them, to where the numbers
// themselves are judged.
namespace everywatt::recorder {

// Sets header_check and tables_check to what they must be; leaves an image alone whose tables do
// not lie inside it.
inline void reseal(std::span<std::byte> image) {
  if (image.size() < sizeof(Header)) return;
  const auto number = [&](std::size_t offset, auto kind) {
    std::memcpy(&kind, image.data() + offset, sizeof(kind));
    return kind;
  };
  const auto count = [&](std::size_t offset) { return number(offset, std::uint32_t{}); };
  const auto place = [&](std::size_t offset) { return number(offset, std::uint64_t{}); };
  const auto lies_inside = [&](std::uint64_t offset, std::uint64_t entries, std::uint64_t bytes) {
    return offset % sizeof(Word) == 0 && bytes % sizeof(Word) == 0 && offset <= image.size() &&
           entries * bytes <= image.size() - offset;
  };
  Tables tables;
  tables.catalog_offset = place(offsetof(Header, catalog_offset));
  tables.device_offset = place(offsetof(Header, device_offset));
  tables.ring_offset = place(offsetof(Header, ring_offset));
  tables.catalog_entry_bytes = count(offsetof(Header, catalog_entry_bytes));
  tables.device_entry_bytes = count(offsetof(Header, device_entry_bytes));
  tables.ring_entry_bytes = count(offsetof(Header, ring_entry_bytes));
  const std::uint32_t metrics = count(offsetof(Header, catalog_count));
  const std::uint32_t devices = count(offsetof(Header, device_count));
  const std::uint32_t rings = count(offsetof(Header, ring_count));
  if (metrics <= kMaxCatalogEntries && devices <= kMaxDevices && rings <= kMaxRings &&
      tables.device_entry_bytes >= kDeviceConstantBytes &&
      tables.ring_entry_bytes >= kRingConstantBytes &&
      lies_inside(tables.catalog_offset, metrics, tables.catalog_entry_bytes) &&
      lies_inside(tables.device_offset, devices, tables.device_entry_bytes) &&
      lies_inside(tables.ring_offset, rings, tables.ring_entry_bytes)) {
    tables.catalog.resize(metrics);
    tables.devices.resize(devices);
    tables.rings.resize(rings);
    const std::uint64_t check = compute_tables_check(image.data(), tables);
    std::memcpy(image.data() + offsetof(Header, tables_check), &check, sizeof(check));
  }
  const std::uint64_t check = compute_header_check(image.data());
  std::memcpy(image.data() + offsetof(Header, header_check), &check, sizeof(check));
}

}  // namespace everywatt::recorder
