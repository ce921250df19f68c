// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace everywatt::web {

struct SocketAddress {
  std::string address;  // "127.0.0.1", "::1"
  std::uint16_t port = 0;
};

// Whether it is something to listen on: an IP address, or "localhost", which is 127.0.0.1.
bool is_listen_address(std::string_view address);

// A socket that listens; "::" takes IPv4 as well. kUnavailable: the port is in use;
// kInvalidArgument: not an IP address; kNoPermission.
base::Result<base::UniqueFd> open_listening_socket(const std::string& address, std::uint16_t port);

// Where it listens.
base::Result<SocketAddress> address_of(int socket);

// Whether this machine alone can reach it.
bool is_loopback(const std::string& address);

enum class Scheme : std::uint8_t { kHttp, kHttps };
// "http://127.0.0.1:9400", for people on this machine.
std::string format_url(const SocketAddress& address, Scheme scheme = Scheme::kHttp);

}  // namespace everywatt::web
