// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/trace/csv.h"

namespace everywatt::importer {

// Longer recordings are no traces of ours: an hour at 10 ms is more than anybody looks through.
inline constexpr double kLongestMs = 3'600'000;

// Columns that hold something else than numbers from 0 on.
struct OddColumns {
  std::string_view letters = {};                // single letters: see letter()
  std::string_view gaps = {};                   // may hold "nan"
  std::string_view pids = {};                   // whole numbers of 1 to 2^32 - 1
  std::vector<std::string_view> negative = {};  // may be below 0
};

// A CSV file as numbers. 0x... is hexadecimal; "nan" goes no further than the check for it.
class Numbers {
 public:
  // Reads the columns of `names`, in that order; the first is t_ms, which must not fall. kCorrupt
  // names the line.
  static base::Result<Numbers> read(const std::string& path,
                                    const std::vector<std::string_view>& names,
                                    const OddColumns& odd = {});

  std::size_t rows() const { return times_ns_.size(); }
  // Since the trace's start.
  std::int64_t time_ns(std::size_t row) const { return times_ns_[row]; }
  // REQUIRES of whole(): a column that is not one of `negative`.
  double at(std::size_t row, std::size_t column) const { return values_[row * columns_ + column]; }
  std::uint64_t whole(std::size_t row, std::size_t column) const {
    return static_cast<std::uint64_t>(at(row, column));
  }
  char letter(std::size_t row) const { return letters_[row]; }

 private:
  std::size_t columns_ = 0;
  std::vector<std::int64_t> times_ns_;
  std::vector<double> values_;
  std::vector<char> letters_;
};

}  // namespace everywatt::importer
