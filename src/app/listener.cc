// SPDX-License-Identifier: Apache-2.0
#include "app/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace everywatt::app {
namespace {

constexpr int kBacklog = 128;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

base::Result<Address> parse_address(const std::string& text, std::uint16_t port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  const std::string& numeric = text == "localhost" ? "127.0.0.1" : text;
  if (::inet_pton(AF_INET, numeric.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof(*v4);
    return address;
  }
  if (::inet_pton(AF_INET6, numeric.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof(*v6);
    return address;
  }
  return base::fail(base::Code::kInvalidArgument,
                    fmt::format("'{}' is not an IP address to listen on", text));
}

std::uint16_t port_of(int socket) {
  Address address;
  address.length = sizeof(address.storage);
  if (::getsockname(socket, address.get(), &address.length) != 0) return 0;
  return ntohs(address.storage.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port
                   : reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port);
}

}  // namespace

base::Result<Listener> Listener::open(const std::string& address_text, std::uint16_t port) {
  const auto address = parse_address(address_text, port);
  if (!address) return std::unexpected(address.error());
  const std::string where = fmt::format("{}:{}", address_text, port);
  Listener listener;
  listener.socket = base::UniqueFd(
      ::socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.socket.is_open()) return base::fail_errno("make a socket for", where);
  const int yes = 1;
  // Connections of the server before us may still be in their last state.
  ::setsockopt(listener.socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(listener.socket.get(), address->get(), address->length) != 0 ||
      ::listen(listener.socket.get(), kBacklog) != 0) {
    if (errno == EADDRINUSE) {
      return base::fail(base::Code::kUnavailable, fmt::format("{} is in use", where),
                        "stop what listens there, or choose another with --listen");
    }
    return base::fail_errno("listen on", where);
  }
  listener.port = port_of(listener.socket.get());
  return listener;
}

std::string make_url(const std::string& address, std::uint16_t port) {
  const bool is_any = address == "0.0.0.0" || address == "::";
  const std::string host = is_any                                   ? "127.0.0.1"
                           : address.find(':') != std::string::npos ? "[" + address + "]"
                                                                    : address;
  return fmt::format("http://{}:{}", host, port);
}

}  // namespace everywatt::app
