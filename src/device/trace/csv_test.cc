// SPDX-License-Identifier: Apache-2.0
#include "device/trace/csv.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace everywatt::trace {
namespace {

class CsvTest : public testing::Test {
 protected:
  CsvTest() : path_(testing::TempDir() + "everywatt_csv_test.csv.gz") {}
  ~CsvTest() override { std::remove(path_.c_str()); }

  void pack(const std::string& text) const {
    gzFile file = gzopen(path_.c_str(), "wb1");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
  }
  // What is wrong with the file, without its name.
  std::string error() const {
    const auto csv = Csv::read(path_);
    return csv ? "no error" : csv.error().message.substr(path_.size());
  }

  const std::string path_;
};

TEST_F(CsvTest, CellsAreFoundByRowAndColumn) {
  pack("t,a\r\n1,2\n\n3,\n\n");
  const auto csv = Csv::read(path_);
  ASSERT_TRUE(csv) << csv.error().message;
  ASSERT_EQ(csv->rows(), 2u);
  EXPECT_EQ(csv->cell(0, *csv->column("a")), "2");
  EXPECT_EQ(csv->cell(1, *csv->column("t")), "3");
  EXPECT_EQ(csv->cell(1, *csv->column("a")), "");
  EXPECT_EQ(csv->column("b").error().message, path_ + ":1: no column 'b'");
  EXPECT_EQ(csv->fail_at(1, "bad").error().message, path_ + ":4: bad");
}

TEST_F(CsvTest, ARaggedLineIsNamed) {
  pack("t,a\n1,2\n1,2,3\n");
  EXPECT_EQ(error(), ":3: 3 cells, the header has 2");
  pack("t,a\n\n1\n");
  EXPECT_EQ(error(), ":3: 1 cells, the header has 2");
  pack("");
  EXPECT_EQ(error(), ":1: no header line");
}

TEST_F(CsvTest, AFileCutShortAnywhereIsDamagedAndNeverRead) {
  pack("t,a\n1,2\n3,4\n5,6\n");
  const auto size = std::filesystem::file_size(path_);
  for (std::uintmax_t cut = size - 1; cut >= 2; --cut) {
    std::filesystem::resize_file(path_, cut);
    EXPECT_TRUE(error().starts_with(": damaged gzip: ")) << cut << error();
  }
}

TEST_F(CsvTest, ABrokenByteIsDamaged) {
  pack("t,a\n1,2\n3,4\n5,6\n");
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-8, std::ios::end);  // the checksum
  file.put('x');
  file.close();
  EXPECT_TRUE(error().starts_with(": damaged gzip: ")) << error();
}

TEST_F(CsvTest, ALineOfCommasDoesNotEatTheMemory) {
  pack("t,a\n" + std::string(300, ',') + "\n");
  EXPECT_EQ(error(), ":2: more than 256 columns");
}

}  // namespace
}  // namespace everywatt::trace
