// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/check.h"
#include "catalog/metric.h"

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

}  // namespace everywatt::web
