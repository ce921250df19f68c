// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

// How two processes get a connection to each other that both of them outlive: a third one, which
// started them, has a door to each, makes a new pair whenever one of the two is new, and passes an
// end through each door. A connection that has seen a process die cannot be used again: half a
// frame may lie in it.
namespace everywatt::courier_link {

struct SocketPair {
  base::UniqueFd ours;
  base::UniqueFd theirs;
};
base::Result<SocketPair> make_door();
base::Result<SocketPair> make_link();

// Waits for nothing. kUnavailable: nobody takes anything at the other side.
base::Status pass_descriptor(int door, int descriptor);

// The newest descriptor that was passed, older ones are closed; nothing: none is there. Waits for
// nothing. kUnavailable: the other side has ended.
base::Result<std::optional<base::UniqueFd>> take_descriptor(int door);

}  // namespace everywatt::courier_link
