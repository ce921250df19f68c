// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace everywatt::base {

void check_failed(const char* file, int line, std::string_view expression) {
  std::fprintf(stderr, "everywatt: %s:%d: check failed: %.*s\n", file, line,
               static_cast<int>(expression.size()), expression.data());
  std::abort();
}

}  // namespace everywatt::base
