// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace everywatt::base {

// Prints where and what was violated to stderr and aborts. Called through CHECK only.
[[noreturn]] void check_failed(const char* file, int line, std::string_view expression);

}  // namespace everywatt::base

// A programmer's mistake: always on, never for input that comes from outside.
#define CHECK(condition)                                               \
  do {                                                                 \
    if (!(condition)) [[unlikely]]                                     \
      ::everywatt::base::check_failed(__FILE__, __LINE__, #condition); \
  } while (false)

#ifdef NDEBUG
#define DCHECK(condition) \
  do {                    \
  } while (false)
#else
#define DCHECK(condition) CHECK(condition)
#endif
