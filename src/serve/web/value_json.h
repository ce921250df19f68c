// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "catalog/metric.h"
#include "read/view/view.h"

namespace everywatt::web {

// A cell as JSON: exact. A template only to keep the JSON library's header out of this one.
// REQUIRES: the type is not text.
template <typename Json>
Json exact_value(catalog::Type type, std::uint64_t bits) {
  CHECK(type != catalog::Type::kText);
  if (type == catalog::Type::kU64) return bits;
  if (type == catalog::Type::kI64) return std::bit_cast<std::int64_t>(bits);
  const auto value = std::bit_cast<double>(bits);
  if (!std::isfinite(value)) return nullptr;  // of a forged file alone
  return value;
}

// The word for programs why there is no value: "not_supported", "stale", "no_rows".
inline std::string_view absence_name(const view::Latest& latest) {
  switch (latest.absence) {
    case view::Absence::kStale:
      return "stale";
    case view::Absence::kNoRows:
      return "no_rows";
    case view::Absence::kNoRing:
      return catalog::state_name(catalog::State::kNotSupported);
    case view::Absence::kPresent:
    case view::Absence::kState:
    case view::Absence::kDevice:
      break;
  }
  return catalog::state_name(latest.reading.state);
}

}  // namespace everywatt::web
