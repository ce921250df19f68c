// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace everywatt::web {

// What a sender of a mark says: any of it, but not nothing.
struct Annotation {
  std::string text;
  std::optional<std::int64_t> step;
  std::optional<double> epoch;
  std::string phase;
  std::vector<std::pair<std::string, double>> values;
};

inline constexpr std::size_t kMostAnnotationBytes = 2048;
inline constexpr std::size_t kMostAnnotationValues = 16;

// A message as it comes from anybody: one JSON object with the keys `text` and `phase` (text),
// `step` (a whole number), `epoch` (a number) and `values` (an object of numbers, at most 16, names
// of 1 to 32 bytes). Nothing for whatever else: other keys, too many bytes, bad UTF-8, an object
// that says nothing.
std::optional<Annotation> parse_annotation(std::string_view message);

}  // namespace everywatt::web
