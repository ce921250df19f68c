// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace everywatt::trace {

// A gzip'd CSV file with a header line, unpacked and cut into cells. The cells point into the
// table's own text, so it does not move. A file that is damaged, cut short or ragged, larger than
// 64 MiB unpacked or than 16 million cells is kCorrupt with the file's name and line.
class Csv {
 public:
  static base::Result<Csv> read(const std::string& path);

  Csv(Csv&&) = default;
  Csv& operator=(Csv&&) = default;
  Csv(const Csv&) = delete;
  Csv& operator=(const Csv&) = delete;

  std::size_t rows() const { return columns_ == 0 ? 0 : cells_.size() / columns_; }
  // The place of a column, or kCorrupt that names it and the file.
  base::Result<std::size_t> column(std::string_view name) const;
  std::string_view cell(std::size_t row, std::size_t column) const {
    return cells_[row * columns_ + column];
  }
  // "FILE:LINE: MESSAGE" for what is wrong in a row; of a table without rows, in the first one.
  std::unexpected<base::Error> fail_at(std::size_t row, std::string_view message) const;

 private:
  Csv() = default;

  std::string path_;
  std::vector<char> text_;  // a vector, because its bytes stay where they are when it moves
  std::vector<std::string_view> header_;
  std::vector<std::string_view> cells_;
  std::vector<std::uint32_t> lines_;  // of the rows; blank lines are passed over
  std::size_t columns_ = 0;
};

// The unpacked bytes of a gzip file; a file without the gzip magic comes as it is.
base::Result<std::vector<char>> read_gzip(const std::string& path);

}  // namespace everywatt::trace
