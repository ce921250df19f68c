// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/control.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace everywatt::app {

// The daemon's end of control.h: takes orders from root and from the daemon's own user. What comes
// is compared with constants and never parsed. Waits for nobody: whoever connects and says nothing
// is let go of. One thread. Its name goes with it.
class ControlSocket {
 public:
  // Makes the folder beside the run folder. kNoPermission: that one belongs to somebody else or is
  // a link.
  static base::Result<ControlSocket> open(const std::string& run_folder);
  ControlSocket(ControlSocket&&) noexcept = default;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();

  // What poll() is to wait for.
  void add_to(std::vector<pollfd>& waited) const;
  // Accepts, reads, carries out by `act`, and answers, whatever of it can be done now.
  using Act = std::function<ControlReply(ControlVerb)>;
  void serve(std::int64_t now_ns, const Act& act);

 private:
  struct Peer {
    base::UniqueFd socket;
    bool is_allowed = false;
    std::int64_t since_ns = 0;
  };
  ControlSocket(base::UniqueFd folder, std::string path, base::UniqueFd socket)
      : folder_(std::move(folder)), path_(std::move(path)), socket_(std::move(socket)) {}
  void accept_all(std::int64_t now_ns);
  static bool answer(const Peer& peer, const Act& act);

  base::UniqueFd folder_;
  std::string path_;
  base::UniqueFd socket_;
  std::vector<Peer> peers_;
};

}  // namespace everywatt::app
