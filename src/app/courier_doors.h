// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "base/result.h"
#include "base/unique_fd.h"

namespace everywatt::app {

// The supervisor's ends of the doors to the server and the courier (serve/courier_link/door.h), and
// who sees to it that the two are connected whenever both run.
class CourierDoors {
 public:
  enum class Side : unsigned { kServer, kCourier };

  // A new door for a process that is about to start, which gets this end of it.
  base::Result<base::UniqueFd> make(Side side);
  // That process does not run any more.
  void close(Side side) { door(side).reset(); }
  // After a start: a new connection, where both run. The old one, if any, ends with it.
  void connect();

 private:
  base::UniqueFd& door(Side side) { return doors_[static_cast<unsigned>(side)]; }

  std::array<base::UniqueFd, 2> doors_;
};

}  // namespace everywatt::app
