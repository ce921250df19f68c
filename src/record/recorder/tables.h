// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/recorder/layout.h"

// The constant part of a file: how it is laid out, written, and taken in again with every number
// checked. Inside the room only.
namespace everywatt::recorder {

// Copies of what a file says. The plain numbers of a slot or entry, without its atomics.
struct DeviceConstants {
  std::uint32_t scope = 0;  // catalog::Scope, or one that this version does not know
  std::uint32_t parent = kNoParent;
};
struct RingConstants {
  std::uint32_t device = 0;
  std::uint8_t lane = 0;  // catalog::Lane, or one that this version does not know
  std::uint8_t writer = 0;
  std::uint16_t reserved0 = 0;
  std::uint32_t cells = 0;
  std::uint32_t row_words = 0;
  std::uint64_t capacity = 0;
  std::uint64_t offset = 0;
};
static_assert(sizeof(DeviceConstants) == kDeviceConstantBytes);
static_assert(sizeof(RingConstants) == kRingConstantBytes);

struct Tables {
  Source source{};
  Origin origin;
  std::uint64_t file_bytes = 0;
  std::uint64_t catalog_offset = 0;
  std::uint64_t device_offset = 0;
  std::uint64_t ring_offset = 0;
  std::uint32_t catalog_entry_bytes = sizeof(CatalogEntry);
  std::uint32_t device_entry_bytes = sizeof(DeviceSlot);
  std::uint32_t ring_entry_bytes = sizeof(RingEntry);
  std::vector<CatalogEntry> catalog;
  std::vector<DeviceConstants> devices;
  std::vector<RingConstants> rings;

  // Where the rings begin: what must exist before the file gets its name.
  std::uint64_t table_bytes() const;
};

// This version's catalog as a file holds it.
std::vector<CatalogEntry> catalog_copy();

// Gives every ring its place. kInvalidArgument: more devices, rings or rows than a file may have,
// or a parent that is none.
base::Result<Tables> plan_tables(const LayoutOptions& options);
// The same over rings whose device, lane, writer, cells and capacity are set, and any catalog.
base::Result<Tables> place_rings(Tables tables);

// Writes header and tables into zeroed memory of tables.table_bytes().
void write_tables(const Tables& tables, std::byte* file);

// Takes in what others wrote. `name` is for messages. kCorrupt: it is no recorder file or damaged.
// kNotSupported: of another version. After it, for every ring: its slots lie inside the file, apart
// from everything else, its device exists, and its rows hold every column that the catalog copy
// names for its scope and lane.
base::Result<Tables> parse_tables(const std::byte* file, std::uint64_t size, std::string_view name);

// The checks of format.h over a mapped file whose sizes hold.
std::uint64_t compute_header_check(const std::byte* file);
std::uint64_t compute_tables_check(const std::byte* file, const Tables& tables);

}  // namespace everywatt::recorder
