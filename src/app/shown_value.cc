// SPDX-License-Identifier: Apache-2.0
#include "app/shown_value.h"

#include <fmt/format.h>

#include <bit>

#include "base/check.h"

namespace everywatt::app {

std::string format_exact(catalog::Type type, std::uint64_t bits) {
  switch (type) {
    case catalog::Type::kF64:
      return fmt::format("{}", std::bit_cast<double>(bits));
    case catalog::Type::kU64:
      return fmt::format("{}", bits);
    case catalog::Type::kI64:
      return fmt::format("{}", std::bit_cast<std::int64_t>(bits));
    case catalog::Type::kText:
      break;
  }
  CHECK(type != catalog::Type::kText);
  return {};
}

void append_value(JsonText& json, catalog::Type type, std::uint64_t bits) {
  switch (type) {
    case catalog::Type::kF64:
      json.number(std::bit_cast<double>(bits));
      return;
    case catalog::Type::kU64:
      json.number(bits);
      return;
    case catalog::Type::kI64:
      json.number(std::bit_cast<std::int64_t>(bits));
      return;
    case catalog::Type::kText:
      break;
  }
  CHECK(type != catalog::Type::kText);
}

}  // namespace everywatt::app
