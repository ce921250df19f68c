// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/file.h"
#include "record/recorder/example_file.h"
#include "record/recorder/reader.h"

// The worked example of docs/recorder_format.md, made of a true file.
namespace everywatt::recorder {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Reading;
using catalog::Row;
using catalog::Scope;
using catalog::State;

constexpr std::string_view kBegin = "<!-- example: written by format_page_test -->\n```text\n";
constexpr std::string_view kEnd = "```\n<!-- end of example -->";

class Dump {
 public:
  explicit Dump(const std::vector<std::byte>& image) : image_(image) {}

  // A line of up to 8 bytes each, the meaning in the first.
  void add(std::size_t offset, std::size_t bytes, std::string_view meaning) {
    for (std::size_t i = 0; i < bytes; i += 8) {
      std::string hex;
      for (std::size_t j = i; j < std::min(i + 8, bytes); ++j) {
        hex += fmt::format("{:02x} ", static_cast<unsigned>(image_.at(offset + j)));
      }
      const std::string line =
          fmt::format("{:06x}  {:<25}{}", offset + i, hex, i == 0 ? meaning : "");
      text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  void title(std::string_view title) {
    text_ += fmt::format("{}{}\n", text_.empty() ? "" : "\n", title);
  }
  const std::string& text() const { return text_; }

 private:
  const std::vector<std::byte>& image_;
  std::string text_;
};

void dump_header(Dump& dump) {
  dump.title("Header");
  dump.add(0, 8, "magic \"EEWWATTC\"");
  dump.add(8, 4, "version 1");
  dump.add(12, 4, "header_bytes 448");
  dump.add(16, 8, "file_bytes 8192");
  dump.add(24, 16, "boot_id 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
  dump.add(40, 8, "created_ns 60 s after the boot");
  dump.add(48, 8, "created_wall_ns 2027-01-15 08:00:00 UTC");
  dump.add(56, 8, "catalog_count 2, catalog_entry_bytes 144");
  dump.add(64, 8, "device_count 1, device_entry_bytes 128");
  dump.add(72, 8, "ring_count 1, ring_entry_bytes 64");
  dump.add(80, 8, "catalog_offset 448");
  dump.add(88, 8, "device_offset 736");
  dump.add(96, 8, "ring_offset 864");
  dump.add(104, 8, "source 1: live");
  dump.add(112, 8, "tables_check");
  dump.add(120, 8, "header_check");
  dump.add(128, 8, "wall_offset_ns");
  dump.add(136, 8, "closed_ns 0: not closed");
  dump.add(144, 8, "successor 0: this file has its name");
}

void dump_tables(Dump& dump) {
  dump.title("CatalogEntry 0 at 448 (the other one at 592)");
  dump.add(448, 24, "name \"gpu_utilization_ratio\"");
  dump.add(512, 8, "unit \"ratio\"");
  dump.add(552, 4, "scope 0: gpu, lane 0: gauge, kind 0: gauge, type 0: f64");
  dump.add(556, 8, "first_cell 0, instances 1, text_cells 0");
  dump.add(564, 4, "period_ms 200");
  dump.add(568, 8, "low 0.0");
  dump.add(576, 8, "high 1.0");
  dump.title("DeviceSlot 0 at 736");
  dump.add(736, 8, "scope 0: gpu, parent none");
  dump.add(744, 8, "status 1: ok");
  dump.add(752, 8, "status_since_ns");
  dump.add(760, 8, "index 0");
  dump.add(768, 8, "generation 1");
  dump.title("RingEntry 0 at 864");
  dump.add(864, 8, "device 0, lane 0: gauge, writer 1: sampler");
  dump.add(872, 8, "cells 2, row_words 7");
  dump.add(880, 8, "capacity 2 rows");
  dump.add(888, 8, "offset 4096");
  dump.add(896, 8, "allocated 1");
  dump.add(904, 8, "reserved 3");
  dump.add(912, 8, "published 3: rows 1 and 2 can be read");
}

void dump_rows(Dump& dump) {
  const auto dump_row = [&](std::size_t at, std::string_view states, std::string_view first,
                            std::string_view second) {
    dump.add(at, 8, "check");
    dump.add(at + 8, 8, "time");
    dump.add(at + 16, 8, "window start 0: none");
    dump.add(at + 24, 8, "window end 0");
    dump.add(at + 32, 8, states);
    dump.add(at + 40, 8, first);
    dump.add(at + 48, 8, second);
  };
  dump.title("Slot 0 at 4096: row 2, over what was row 0");
  dump_row(4096, "states: both cells 1: ok", "cell 0: 0.25", "cell 1: 0x12340002");
  dump.title("Slot 1 at 4152: row 1");
  dump_row(4152, "states: cell 0 0: not_read, cell 1 1: ok", "cell 0: nothing",
           "cell 1: 0x12340001");
}

TEST(FormatPage, ShowsAFileAsItIs) {
  const std::vector<std::byte> image = example_image(3);
  Dump dump(image);
  dump_header(dump);
  dump_tables(dump);
  dump_rows(dump);

  const std::string path = EVERYWATT_SOURCE_DIR "/docs/recorder_format.md";
  std::string page = base::read_file(path).value();
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::size_t first = begin + kBegin.size();
  if (std::getenv("EVERYWATT_WRITE_PAGES") != nullptr) {
    page.replace(first, end - first, dump.text());
    ASSERT_TRUE(base::write_file_atomically(path, page, 0644).has_value());
  } else {
    EXPECT_EQ(page.substr(first, end - first), dump.text())
        << "EVERYWATT_WRITE_PAGES=1 writes the page anew";
  }
}

TEST(FormatPage, ItsExampleIsReadByName) {
  const auto reader = open_image(example_image(3)).value();
  const std::uint32_t ring = reader->find_ring(0, Lane::kGauge).value();
  EXPECT_EQ(reader->oldest(ring), 1U);
  Row row(Scope::kGpu, Lane::kGauge);
  ASSERT_EQ(reader->read(ring, 2, row), RowState::kOk);
  EXPECT_EQ(row.time_ns, 61'200'000'000);
  EXPECT_EQ(row.reading(MetricId::gpu_utilization_ratio), Reading::of(0.25));
  EXPECT_EQ(row.reading(MetricId::gpu_memory_used_bytes), Reading::of(std::uint64_t{0x1234'0002}));
  EXPECT_EQ(row.state(MetricId::gpu_memory_free_bytes), State::kNotSupported);
  EXPECT_FALSE(reader->has_metric(MetricId::gpu_memory_free_bytes));
  Reader::Cell cell;
  ASSERT_EQ(reader->read_cell(ring, 1, MetricId::gpu_utilization_ratio, 0, cell), RowState::kOk);
  EXPECT_EQ(cell.reading, Reading::absent(State::kNotRead));
  ASSERT_EQ(reader->read_cell(ring, 1, MetricId::gpu_memory_free_bytes, 0, cell), RowState::kOk);
  EXPECT_EQ(cell.reading, Reading::absent(State::kNotSupported));
  EXPECT_EQ(cell.time_ns, 61'100'000'000);
}

}  // namespace
}  // namespace everywatt::recorder
