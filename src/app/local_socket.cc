// SPDX-License-Identifier: Apache-2.0
#include "app/local_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"

namespace everywatt::app {

LocalAddress local_address(const base::UniqueFd& folder, std::string_view name) {
  LocalAddress local;
  local.address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder.get(), name);
  CHECK(path.size() < sizeof(local.address.sun_path));
  path.copy(local.address.sun_path, path.size());
  return local;
}

base::Result<base::UniqueFd> bind_local(const base::UniqueFd& folder, const std::string& name,
                                        int type, mode_t mode) {
  base::UniqueFd socket(::socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return base::fail_errno("make", "a socket");
  struct stat about{};
  // Nothing but a socket of ours was ever put there under that name: whatever else it is stays.
  if (::fstatat(folder.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISSOCK(about.st_mode)) {
    ::unlinkat(folder.get(), name.c_str(), 0);
  }
  const LocalAddress address = local_address(folder, name);
  if (::bind(socket.get(), address.get(), LocalAddress::kSize) != 0) {
    return base::fail_errno("make the socket", name);
  }
  if (::fchmodat(folder.get(), name.c_str(), mode, 0) != 0) {
    return base::fail_errno("set the mode of", name);
  }
  return socket;
}

}  // namespace everywatt::app
