// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "app/json_text.h"
#include "catalog/metric.h"

// Values for programs: exact. Pure. REQUIRES: the type is not text.
namespace everywatt::app {

// As a JSON number.
void append_value(JsonText& json, catalog::Type type, std::uint64_t bits);
// The same for CSV.
std::string format_exact(catalog::Type type, std::uint64_t bits);

}  // namespace everywatt::app
