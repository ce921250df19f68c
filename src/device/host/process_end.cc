// SPDX-License-Identifier: Apache-2.0
#include "device/host/process_end.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace everywatt::host {

base::Result<base::UniqueFd> open_process_end(const Root& root, std::uint32_t pid) {
  if (!root.is_machine()) {
    return base::fail(base::Code::kNotSupported, "pidfd: not this machine's root");
  }
  const long fd = ::syscall(SYS_pidfd_open, static_cast<int>(pid), 0);
  if (fd < 0 && errno == ENOSYS) return base::fail(base::Code::kNotSupported, "pidfd: old kernel");
  if (fd < 0 && errno == ESRCH) return base::fail(base::Code::kNotFound, "no such process");
  if (fd < 0) return base::fail_errno("watch process", std::to_string(pid));
  return base::UniqueFd(static_cast<int>(fd));
}

bool exists_hidden(const Root& root, std::uint32_t pid) {
  return open_process_end(root, pid).has_value();
}

}  // namespace everywatt::host
