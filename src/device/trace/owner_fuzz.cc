// SPDX-License-Identifier: Apache-2.0
#include "device/trace/owner.h"

#include <string>

#include "base/fuzz_target.h"

namespace everywatt::trace {

// Whatever the file says, nothing of it leads out of the tree of control groups.
FUZZ_TARGET(owner) {
  const auto owner = parse_owner(std::string(bytes), "o.json");
  if (!owner) {
    CHECK(owner.error().message.starts_with("o.json: "));
    return;
  }
  CHECK(!owner->command.empty());
  CHECK(owner->cgroup.starts_with('/'));
  CHECK((owner->cgroup + "/").find("/../") == std::string::npos);
  CHECK(owner->cgroup.find('\0') == std::string::npos);
}

}  // namespace everywatt::trace
