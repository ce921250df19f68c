// SPDX-License-Identifier: Apache-2.0
#include "record/importer/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace everywatt::importer {
namespace {

// Whole numbers beyond it are not exact as a double; no column of a trace comes near.
constexpr double kExactBelow = 9e15;

std::optional<double> parse_cell(std::string_view text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text.starts_with("0x")) {
    std::uint64_t bits = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + 2, end, bits, 16);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    const auto number = static_cast<double>(bits);
    return number <= kExactBelow ? std::optional(number) : std::nullopt;
  }
  const auto number = base::parse_f64(text);
  if (!number || std::fabs(*number) > kExactBelow) return std::nullopt;
  return number;
}

// What is wrong with a cell of that column; "" if nothing.
std::string_view complain(std::optional<double> value, std::string_view name,
                          const OddColumns& odd) {
  if (!value || (std::isnan(*value) && name != odd.gaps)) return "is not a number";
  if (name == odd.pids) {
    const bool is_pid = *value >= 1 && *value <= std::numeric_limits<std::uint32_t>::max() &&
                        *value == std::floor(*value);
    return is_pid ? "" : "is not a pid";
  }
  if (*value < 0 && std::ranges::find(odd.negative, name) == odd.negative.end()) {
    return "is below 0";
  }
  return "";
}

}  // namespace

base::Result<Numbers> Numbers::read(const std::string& path,
                                    const std::vector<std::string_view>& names,
                                    const OddColumns& odd) {
  const auto csv = trace::Csv::read(path);
  if (!csv) return std::unexpected(csv.error());
  std::vector<std::size_t> places;
  for (const std::string_view name : names) {
    const auto place = csv->column(name);
    if (!place) return std::unexpected(place.error());
    places.push_back(*place);
  }
  Numbers numbers;
  numbers.columns_ = names.size();
  numbers.values_.reserve(csv->rows() * names.size());
  for (std::size_t row = 0; row < csv->rows(); ++row) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string_view cell = csv->cell(row, places[i]);
      if (names[i] == odd.letters) {
        if (cell.size() != 1)
          return csv->fail_at(row, std::string(names[i]) + " is not one letter");
        numbers.letters_.push_back(cell.front());
        numbers.values_.push_back(0);
        continue;
      }
      const auto value = parse_cell(cell);
      if (const std::string_view complaint = complain(value, names[i], odd); !complaint.empty()) {
        return csv->fail_at(row, fmt::format("{} {}", names[i], complaint));
      }
      numbers.values_.push_back(*value);
    }
    const double ms = numbers.at(row, 0);
    if (!(ms >= 0 && ms <= kLongestMs))
      return csv->fail_at(row, "t_ms is not a time within an hour");
    const std::int64_t time_ns = std::llround(ms * 1e6);
    if (row > 0 && time_ns < numbers.times_ns_.back()) return csv->fail_at(row, "t_ms falls");
    numbers.times_ns_.push_back(time_ns);
  }
  if (numbers.rows() == 0) return csv->fail_at(0, "no rows");
  return numbers;
}

}  // namespace everywatt::importer
