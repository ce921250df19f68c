// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace everywatt::sim {

// Copies a shared library so that the loader no longer finds some of its functions (names separated
// by commas): an older driver. Their names are overwritten in the copy; the hash under which the
// loader looks stays, and leads to a name that does not match. kNotFound names a function that the
// library does not have.
base::Status copy_without(const std::string& library, const std::string& functions,
                          const std::string& output);

}  // namespace everywatt::sim
