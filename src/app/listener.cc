// SPDX-License-Identifier: Apache-2.0
#include "app/listener.h"

#include "serve/web/listening_socket.h"

namespace everywatt::app {

base::Result<Listener> Listener::open(const std::string& address, std::uint16_t port) {
  auto socket = web::open_listening_socket(address == "localhost" ? "127.0.0.1" : address, port);
  if (!socket) return std::unexpected(std::move(socket.error()));
  const auto bound = web::address_of(socket->get());
  if (!bound) return std::unexpected(bound.error());
  return Listener{.socket = std::move(*socket), .port = bound->port};
}

std::string make_url(const std::string& address, std::uint16_t port, web::Scheme scheme) {
  return web::format_url({.address = address, .port = port}, scheme);
}

}  // namespace everywatt::app
