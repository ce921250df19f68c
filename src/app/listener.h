// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/web/listening_socket.h"

namespace everywatt::app {

// A listening socket, made by who may bind the port and given to who serves on it.
struct Listener {
  base::UniqueFd socket;
  std::uint16_t port = 0;  // the real one when any was asked for

  // kUnavailable: the port is in use; kNoPermission; kInvalidArgument: not an IP address.
  static base::Result<Listener> open(const std::string& address, std::uint16_t port);
};

// "http://127.0.0.1:9400", for people on this machine.
std::string make_url(const std::string& address, std::uint16_t port,
                     web::Scheme scheme = web::Scheme::kHttp);

}  // namespace everywatt::app
