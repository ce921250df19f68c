// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/courier_link/frame.h"

namespace everywatt::courier_link {

// One end of a connection between server and courier. Waits for nothing: what the other side does
// not take yet is kept here, within a bound. One thread. An error of any of its functions is the
// end of the connection.
class Link {
 public:
  // `socket` is one of a pair (SOCK_STREAM). `unsent_bytes`: how much may be kept.
  Link(base::UniqueFd socket, std::size_t unsent_bytes);

  int fd() const { return socket_.get(); }
  bool has_unsent() const { return !unsent_.empty(); }
  std::size_t unsent_bytes() const { return kept_bytes_; }

  // Takes a frame's bytes, and sends what goes. kUnavailable: too much is kept already; this one
  // error leaves the connection as it was.
  base::Status send(std::string_view bytes);
  // Sends what goes of what is kept.
  base::Status flush();
  // The frames that have come whole. kUnavailable: the other side has ended; kCorrupt.
  base::Result<std::vector<std::string>> receive();

 private:
  base::UniqueFd socket_;
  std::size_t limit_bytes_;
  std::deque<std::string> unsent_;
  std::size_t sent_of_first_ = 0;
  std::size_t kept_bytes_ = 0;
  FrameReader reader_;
};

}  // namespace everywatt::courier_link
