// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace everywatt::host {

// The folder below which this room looks for everything: "/" is the machine itself, another one a
// container's mount of the host or a made-up machine. A value; safe to copy and to share.
class Root {
 public:
  Root() = default;
  explicit Root(std::string_view prefix);

  // Where `absolute` ("/proc/stat") lies below this root.
  std::string path(std::string_view absolute) const;
  // The whole of that file, at most `limit_bytes` of it: what is longer is cut, since a workload
  // decides how long its own files in /proc are.
  base::Result<std::string> read(std::string_view absolute, std::size_t limit_bytes = 65536) const;

  // True for "/": system calls that know no root prefix (pidfd, statvfs) speak of the same machine.
  bool is_machine() const { return prefix_.empty(); }

 private:
  std::string prefix_;  // without a slash at its end
};

}  // namespace everywatt::host
