// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "serve/exporter/exposition.h"

namespace everywatt::web {

// The weight that an element of a list ("gzip;q=0.5") carries; 1 without one, 0 for none that is a
// number.
double weight_of(std::string_view element);

// The format that a scraper with this Accept likes best of those that we write (RFC 9110, 12.5.1).
// Text 0.0.4 when it likes none or says nothing.
exporter::Format format_for(std::string_view accept);

}  // namespace everywatt::web
