// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <functional>

#include "record/recorder/pattern_row.h"
#include "record/recorder/read_everything.h"
#include "record/recorder/reseal.h"
#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

using base::Code;
using catalog::Lane;
using catalog::Row;
using catalog::Scope;

constexpr std::uint64_t kRows = 6;

// A GPU with two rings, one of which has been round.
std::vector<std::byte> whole_image() {
  const auto file = File::create_anonymous(small_layout(4)).value();
  file->set_status(kSmallFileGpu, DeviceStatus::kOk, 1);
  for (const Lane lane : {Lane::kGauge, Lane::kPower}) {
    Writer writer = file->writer(kSmallFileGpu, lane).value();
    Row row(Scope::kGpu, lane);
    for (std::uint64_t i = 0; i < kRows; ++i) {
      fill_pattern(i, 1, row);
      writer.append(row);
    }
  }
  return image_of(*file);
}

// Every row that the reader vouches for was written.
void expect_true_rows(const Reader& reader, std::string_view what) {
  for (std::uint32_t ring = 0; ring < reader.ring_count(); ++ring) {
    Row row(reader.ring(ring).scope, reader.ring(ring).lane);
    for (std::uint64_t n = reader.oldest(ring); n < reader.published(ring); ++n) {
      if (reader.read(ring, n, row) == RowState::kOk) {
        EXPECT_TRUE(is_pattern(n, row)) << what;
        EXPECT_LT(n, kRows) << what;
      }
    }
  }
}

TEST(DamagedFile, AnyChangedBitOfHeaderAndTablesIsRefusedOrHarmless) {
  const std::vector<std::byte> whole = whole_image();
  const base::UniqueFd file = file_of(whole);
  const auto put = [&](std::size_t place, std::byte byte) {
    ASSERT_EQ(::pwrite(file.get(), &byte, 1, static_cast<off_t>(place)), 1);
  };
  const auto ring_table = peek<std::uint64_t>(whole, offsetof(Header, ring_offset));
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < 8192; ++i)
    places.push_back(i);
  for (std::size_t i = 0; i < sizeof(DeviceSlot) + 2 * sizeof(RingEntry); ++i) {
    places.push_back(ring_table - sizeof(DeviceSlot) + i);
  }
  unsigned refused = 0;
  for (const std::size_t place : places) {
    put(place, whole[place] ^ std::byte{1} << (place % 8));
    const auto reader = Reader::adopt(duplicate(file.get()), "the test's file");
    if (reader) {
      expect_true_rows(**reader, "byte " + std::to_string(place));
    } else {
      ++refused;
      EXPECT_FALSE(reader.error().message.empty()) << place;
    }
    put(place, whole[place]);
  }
  // The header's constant part, the catalog within the first 8 KiB, a device's and two rings'.
  EXPECT_EQ(refused, offsetof(Header, wall_offset_ns) + (8192 - sizeof(Header)) +
                         kDeviceConstantBytes + 2 * kRingConstantBytes);
}

TEST(DamagedFile, AFileCutAnywhereIsRefused) {
  const std::vector<std::byte> whole = whole_image();
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 1024; ++i)
    lengths.push_back(i);
  for (std::size_t i = 1024; i < whole.size(); i += 509)
    lengths.push_back(i);
  lengths.push_back(whole.size() - 1);
  for (const std::size_t length : lengths) {
    const auto reader = open_image(std::span(whole).first(length));
    ASSERT_FALSE(reader.has_value()) << length;
    EXPECT_EQ(reader.error().code, Code::kCorrupt) << length;
  }
  EXPECT_TRUE(open_image(whole).has_value());
}

TEST(DamagedFile, ALongerFileIsReadAsFarAsItSays) {
  std::vector<std::byte> image = whole_image();
  image.resize(image.size() + 1000);
  EXPECT_EQ(read_everything(*open_image(image).value()).rows, 8U);
}

TEST(DamagedFile, OtherVersionsAreNamed) {
  std::vector<std::byte> image = whole_image();
  poke(image, offsetof(Header, version), kVersion + 1);
  auto error = open_image(image).error();
  EXPECT_EQ(error.code, Code::kNotSupported);
  EXPECT_EQ(error.message,
            "the test's file was made by a newer version of Everywatt: format 2, this one reads 1");
  EXPECT_FALSE(error.hint.empty());
  poke(image, offsetof(Header, version), std::uint32_t{0});
  error = open_image(image).error();
  EXPECT_EQ(
      error.message,
      "the test's file was made by an older version of Everywatt: format 0, this one reads 1");
}

struct Lie {
  const char* what;
  std::function<void(std::vector<std::byte>&)> tell;
  const char* message;
};

// Numbers in the header whose check words are right: what a forger would send.
TEST(DamagedFile, ForgedHeadersAreRefused) {
  constexpr auto kHuge = std::uint64_t{1} << 63;
  const auto set32 = [](std::size_t offset, std::uint32_t number) {
    return [=](std::vector<std::byte>& image) { poke(image, offset, number); };
  };
  const auto set64 = [](std::size_t offset, std::uint64_t number) {
    return [=](std::vector<std::byte>& image) { poke(image, offset, number); };
  };
  const std::array lies{
      Lie{"header_bytes", set32(offsetof(Header, header_bytes), 8), "its header has 8 bytes"},
      Lie{"header_bytes", set32(offsetof(Header, header_bytes), 8192), "its header has 8192 bytes"},
      Lie{"overlap", set32(offsetof(Header, header_bytes), 456), "two parts of it overlap at 448"},
      Lie{"catalog_count", set32(offsetof(Header, catalog_count), 4097), "it names 4097 metrics"},
      Lie{"device_count", set32(offsetof(Header, device_count), 4097), "it names 4097 devices"},
      Lie{"ring_count", set32(offsetof(Header, ring_count), 40000), "it names 40000 rings"},
      Lie{"ring_entry_bytes", set32(offsetof(Header, ring_entry_bytes), 56),
          "its rings take 56 bytes each"},
      Lie{"ring_entry_bytes", set32(offsetof(Header, ring_entry_bytes), 65),
          "its rings take 65 bytes each"},
      Lie{"device_entry_bytes", set32(offsetof(Header, device_entry_bytes), 8192),
          "its devices take 8192 bytes each"},
      Lie{"catalog_offset", set64(offsetof(Header, catalog_offset), kHuge),
          "its metrics lie at 9223372036854775808, outside of it"},
      Lie{"ring_offset", set64(offsetof(Header, ring_offset), ~std::uint64_t{7}),
          "its rings lie at 18446744073709551608, outside of it"},
      Lie{"device_offset", set64(offsetof(Header, device_offset), 449),
          "its devices lie at 449, outside of it"},
  };
  for (const Lie& lie : lies) {
    std::vector<std::byte> image = whole_image();
    lie.tell(image);
    reseal(image);
    const auto reader = open_image(image);
    ASSERT_FALSE(reader.has_value()) << lie.what;
    EXPECT_EQ(reader.error().message, std::string("the test's file is damaged: ") + lie.message);
  }
}

// The same for what the tables say. `tell` changes true tables before they are written.
struct TableLie {
  std::function<void(Tables&)> tell;
  const char* message;
};

TEST(DamagedFile, ForgedTablesAreRefused) {
  const std::array lies{
      TableLie{[](Tables& t) { t.devices[0].parent = 7; }, "a device's parent is 7"},
      TableLie{[](Tables& t) { t.devices[0].parent = 0; }, "a device's parent is 0"},
      TableLie{[](Tables& t) { t.rings[0].device = 1; }, "a ring belongs to device 1"},
      TableLie{[](Tables& t) { t.rings[0].writer = 4; }, "a ring's writer is 4"},
      TableLie{[](Tables& t) { t.rings[1].lane = t.rings[0].lane; }, "a row has 1 cells of "},
      TableLie{[](Tables& t) { t.rings[0].lane = t.rings[1].lane; },
               "a device has two rings of one lane"},
      TableLie{[](Tables& t) { t.rings[0].capacity = 0; }, "a ring has 0 rows"},
      TableLie{[](Tables& t) { t.rings[0].capacity = kMaxCapacity + 1; },
               "a ring has 268435457 rows"},
      TableLie{[](Tables& t) { t.rings[0].row_words += 1; }, "a row has "},
      TableLie{[](Tables& t) { t.rings[0].cells = ~0U; }, "a row has 4294967295 cells in "},
      TableLie{[](Tables& t) { t.rings[1].offset = t.rings[0].offset; },
               "two parts of it overlap at "},
      TableLie{[](Tables& t) { t.rings[0].offset = 0; }, "two parts of it overlap at 0"},
      TableLie{[](Tables& t) { t.rings[0].offset += 8; }, "a ring lies at "},
      TableLie{[](Tables& t) { t.rings[0].offset = ~std::uint64_t{4095}; },
               "a ring lies at 18446744073709547520, outside of it"},
      TableLie{[](Tables& t) { t.catalog[3].name[63] = 'x'; }, "the text of metric 3 has no end"},
      TableLie{[](Tables& t) { t.catalog[3].instances = 65535; }, "metric 3 ends at cell 6"},
      TableLie{[](Tables& t) { t.catalog[3].text_cells = 65535; }, "metric 3 ends at cell 6"},
      TableLie{[](Tables& t) { t.catalog[3].first_cell = 500; }, "a row has "},
  };
  for (const TableLie& lie : lies) {
    Tables tables = plan_tables(small_layout(4)).value();
    lie.tell(tables);
    const auto reader = open_image(image_of(tables));
    ASSERT_FALSE(reader.has_value()) << lie.message;
    // Where exactly depends on how many metrics there are.
    EXPECT_TRUE(reader.error().message.starts_with(std::string("the test's file is damaged: ") +
                                                   lie.message))
        << reader.error().message;
  }
}

}  // namespace
}  // namespace everywatt::recorder
