// SPDX-License-Identifier: Apache-2.0
#include "serve/courier_link/door.h"

#include <sys/socket.h>
#include <cerrno>

#include <array>
#include <cstring>

namespace everywatt::courier_link {
namespace {

base::Result<SocketPair> make_pair(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return base::fail_errno("make", "a pair of sockets");
  }
  return SocketPair{.ours = base::UniqueFd(ends[0]), .theirs = base::UniqueFd(ends[1])};
}

// A message of one byte, and room for one descriptor beside it.
struct Message {
  Message() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }

  char byte = 0;
  iovec part{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
};

base::UniqueFd descriptor_in(Message& message) {
  const cmsghdr* about = CMSG_FIRSTHDR(&message.header);
  if (about == nullptr || about->cmsg_level != SOL_SOCKET || about->cmsg_type != SCM_RIGHTS ||
      about->cmsg_len != CMSG_LEN(sizeof(int))) {
    return {};
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(about), sizeof(descriptor));
  return base::UniqueFd(descriptor);
}

}  // namespace

base::Result<SocketPair> make_door() {
  return make_pair(SOCK_SEQPACKET);
}
base::Result<SocketPair> make_link() {
  return make_pair(SOCK_STREAM);
}

base::Status pass_descriptor(int door, int descriptor) {
  Message message;
  cmsghdr* about = CMSG_FIRSTHDR(&message.header);
  about->cmsg_level = SOL_SOCKET;
  about->cmsg_type = SCM_RIGHTS;
  about->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(about), &descriptor, sizeof(descriptor));
  if (::sendmsg(door, &message.header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    return base::fail(base::Code::kUnavailable, "a process does not take its connections");
  }
  return {};
}

base::Result<std::optional<base::UniqueFd>> take_descriptor(int door) {
  std::optional<base::UniqueFd> newest;
  for (;;) {
    Message message;
    const ssize_t got = ::recvmsg(door, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return newest;
    if (got <= 0 && newest) return newest;
    if (got <= 0) return base::fail(base::Code::kUnavailable, "the supervisor has ended");
    if (base::UniqueFd passed = descriptor_in(message); passed.is_open()) {
      newest = std::move(passed);
    }
  }
}

}  // namespace everywatt::courier_link
