// SPDX-License-Identifier: Apache-2.0
#include "serve/web/listening_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace everywatt::web {
namespace {

// Bursts of connections wait here to be taken or closed; the kernel has a limit of its own.
constexpr int kBacklog = 4096;

// Either kind of address, as the system calls take it.
struct Storage {
  sockaddr_storage bytes{};
  socklen_t length = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
  sockaddr_in& v4() { return reinterpret_cast<sockaddr_in&>(bytes); }
  sockaddr_in6& v6() { return reinterpret_cast<sockaddr_in6&>(bytes); }
};

bool parse_address(const std::string& text, std::uint16_t port, Storage& storage) {
  if (::inet_pton(AF_INET, text.c_str(), &storage.v4().sin_addr) == 1) {
    storage.v4().sin_family = AF_INET;
    storage.v4().sin_port = htons(port);
    storage.length = sizeof(sockaddr_in);
    return true;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &storage.v6().sin6_addr) == 1) {
    storage.v6().sin6_family = AF_INET6;
    storage.v6().sin6_port = htons(port);
    storage.length = sizeof(sockaddr_in6);
    return true;
  }
  return false;
}

std::string format_host(const std::string& address) {
  return address.find(':') == std::string::npos ? address : fmt::format("[{}]", address);
}

}  // namespace

bool is_listen_address(std::string_view address) {
  Storage storage;
  return address == "localhost" || parse_address(std::string(address), 0, storage);
}

base::Result<base::UniqueFd> open_listening_socket(const std::string& address, std::uint16_t port) {
  Storage storage;
  if (!parse_address(address, port, storage)) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("'{}' is not an IP address to listen on", address));
  }
  const std::string where = fmt::format("{}:{}", format_host(address), port);
  base::UniqueFd listener(
      ::socket(storage.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.is_open()) return base::fail_errno("make a socket for", where);
  const int yes = 1;
  const int no = 0;
  // Connections of the server before us may still be in their last state.
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (storage.bytes.ss_family == AF_INET6) {
    ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  }
  if (::bind(listener.get(), storage.get(), storage.length) == 0 &&
      ::listen(listener.get(), kBacklog) == 0) {
    return listener;
  }
  if (errno == EADDRINUSE) {
    return base::fail(base::Code::kUnavailable, fmt::format("{} is in use", where),
                      "stop what listens there, or choose another with --listen");
  }
  return base::fail_errno("listen on", where);
}

base::Result<SocketAddress> address_of(int socket) {
  Storage storage;
  if (::getsockname(socket, storage.get(), &storage.length) != 0) {
    return base::fail_errno("ask for the address of", "the listening socket");
  }
  const bool is_v6 = storage.bytes.ss_family == AF_INET6;
  if (!is_v6 && storage.bytes.ss_family != AF_INET) {
    return base::fail(base::Code::kInvalidArgument, "the listening socket is no TCP socket");
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* number = is_v6 ? static_cast<const void*>(&storage.v6().sin6_addr)
                             : static_cast<const void*>(&storage.v4().sin_addr);
  ::inet_ntop(storage.bytes.ss_family, number, text.data(), text.size());
  return SocketAddress{.address = text.data(),
                       .port = ntohs(is_v6 ? storage.v6().sin6_port : storage.v4().sin_port)};
}

bool is_loopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.") ||
         address.starts_with("::ffff:127.");
}

std::string format_url(const SocketAddress& address, Scheme scheme) {
  const bool is_any = address.address == "0.0.0.0" || address.address == "::";
  return fmt::format("{}://{}:{}", scheme == Scheme::kHttps ? "https" : "http",
                     is_any ? "127.0.0.1" : format_host(address.address), address.port);
}

}  // namespace everywatt::web
