// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace everywatt::app {

// A name in the file system as sockets know it: through the descriptor of its folder, for a path
// may be longer than an address can hold. The folder's descriptor must stay open while it is used.
struct LocalAddress {
  sockaddr_un address{};
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  static constexpr socklen_t kSize = sizeof(sockaddr_un);
};
LocalAddress local_address(const base::UniqueFd& folder, std::string_view name);

// Binds a socket of that type to `name` in the folder, with that mode, in place of one that an
// earlier daemon left. Does not wait: non-blocking.
base::Result<base::UniqueFd> bind_local(const base::UniqueFd& folder, const std::string& name,
                                        int type, mode_t mode);

}  // namespace everywatt::app
