// SPDX-License-Identifier: Apache-2.0
#include "device/host/open_files_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace everywatt::host {

void raise_open_files_limit() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  // Where it is refused, what does not fit is absent with that reason.
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace everywatt::host
