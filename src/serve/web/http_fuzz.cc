// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/fuzz_target.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "serve/web/connections.h"
#include "serve/web/web_fuzz_fixture.h"

namespace everywatt::web {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 10> kStatuses = {"200", "204", "400", "404", "405",
                                                        "413", "421", "431", "503", "304"};

// Everything that lies in a socket whose other end is closed.
std::string receive_all(int socket) {
  std::string all;
  std::array<char, 65536> bytes{};
  for (;;) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got <= 0) return all;
    all.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

std::string_view find_value(std::string_view head, std::string_view name) {
  const std::size_t begin = head.find(name);
  if (begin == std::string_view::npos) return {};
  head.remove_prefix(begin + name.size());
  return head.substr(0, head.find("\r\n"));
}

// Takes one whole answer off the stream. False: it was cut short, which only the last one may be.
bool take_answer(std::string_view& stream, bool has_body) {
  const std::size_t end = stream.find("\r\n\r\n");
  CHECK(end != std::string_view::npos);
  const std::string_view head = stream.substr(0, end + 2);
  stream.remove_prefix(end + 4);
  CHECK(head.starts_with("HTTP/1."));
  CHECK(std::ranges::find(kStatuses, head.substr(9, 3)) != kStatuses.end());
  for (std::string_view line : base::split(head.substr(0, end), '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    CHECK(base::is_clean(line));
  }
  const auto length = base::parse_u64(find_value(head, "\r\nContent-Length: "));
  CHECK(length.has_value());
  if (!has_body) return true;
  if (*length > stream.size()) return false;
  const std::string_view body = stream.substr(0, *length);
  stream.remove_prefix(*length);
  if (find_value(head, "\r\nContent-Encoding: ").empty()) {
    judge_body<nlohmann::json>(find_value(head, "\r\nContent-Type: "), body);
  }
  return true;
}

}  // namespace

// What a peer sends, through the server's own reading of HTTP and its router. It sends all of it
// and then no more.
FUZZ_TARGET(http) {
  int ends[2];
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  base::UniqueFd ours(ends[0]);
  base::UniqueFd theirs(ends[1]);
  const int room = 1 << 20;
  ::setsockopt(theirs.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
  const ssize_t sent = ::send(ours.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return;
  ::shutdown(ours.get(), SHUT_WR);

  std::vector<Method> methods;
  // The answers are taken at the end: what does not fit the socket is given up soon.
  const Limits limits{.header_bytes = 1024, .request = 200ms, .idle = 200ms, .answer = 20ms};
  serve_connection(std::move(theirs), limits, [&methods](const Request& request) {
    methods.push_back(request.method);
    return router_of_all().answer(request);
  });

  const std::string received = receive_all(ours.get());
  std::string_view stream = received;
  std::size_t answers = 0;
  while (!stream.empty()) {
    const bool has_body = answers >= methods.size() || methods[answers] != Method::kHead;
    ++answers;
    if (!take_answer(stream, has_body)) break;
  }
  // One answer each, and one to what could not be read.
  CHECK(answers <= methods.size() + 1);
}

}  // namespace everywatt::web
