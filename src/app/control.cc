// SPDX-License-Identifier: Apache-2.0
#include "app/control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "app/local_socket.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace everywatt::app {
namespace {

// A sampler that hangs takes some seconds to be ended.
constexpr timeval kPatience{.tv_sec = 60, .tv_usec = 0};

base::Result<base::UniqueFd> connect_to(const std::string& run_folder) {
  const std::string path = control_folder(run_folder);
  const auto not_permitted = [&] {
    return base::fail(
        base::Code::kNoPermission,
        fmt::format("the daemon of {} takes orders from its own user and root alone", run_folder));
  };
  const auto not_there = [&] {
    return base::fail(
        base::Code::kUnavailable,
        fmt::format("the daemon of {} takes no orders: nothing answers in {}", run_folder, path),
        "its log says why");
  };
  const base::UniqueFd folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return errno == EACCES ? not_permitted() : not_there();
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return base::fail_errno("make", "a socket");
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  const LocalAddress address = local_address(folder, kControlName);
  if (::connect(socket.get(), address.get(), LocalAddress::kSize) != 0) {
    return errno == EACCES || errno == EPERM ? not_permitted() : not_there();
  }
  return socket;
}

}  // namespace

ControlReply make_reply(ControlStatus status, std::string_view text) {
  ControlReply reply;
  reply.status = static_cast<std::uint32_t>(status);
  const std::string clean = base::clean_text(text, reply.text.size() - 1);
  std::ranges::copy(clean, reply.text.begin());
  return reply;
}

std::string control_folder(const std::string& run_folder) {
  std::error_code error;
  std::string path = std::filesystem::absolute(run_folder, error).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path + "-control";
}

base::Result<ControlAnswer> ask_daemon(const std::string& run_folder, ControlVerb verb) {
  const auto socket = connect_to(run_folder);
  if (!socket) return std::unexpected(socket.error());
  const ControlRequest request{.verb = static_cast<std::uint32_t>(verb)};
  ControlReply reply;
  if (::send(socket->get(), &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request) ||
      ::recv(socket->get(), &reply, sizeof(reply), 0) != sizeof(reply)) {
    return base::fail(base::Code::kUnavailable,
                      fmt::format("the daemon of {} gave no answer", run_folder),
                      "its log says what it does");
  }
  const std::size_t size = ::strnlen(reply.text.data(), reply.text.size());
  return ControlAnswer{.status = static_cast<ControlStatus>(std::min(
                           reply.status, static_cast<std::uint32_t>(ControlStatus::kRefused))),
                       .text = base::clean_text({reply.text.data(), size}, reply.text.size())};
}

}  // namespace everywatt::app
