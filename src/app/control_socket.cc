// SPDX-License-Identifier: Apache-2.0
#include "app/control_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include "app/local_socket.h"

namespace everywatt::app {
namespace {

// Orders are rare and short.
constexpr std::size_t kMostPeers = 8;
constexpr std::int64_t kPatienceNs = 5'000'000'000;

// A folder that nobody but its owner, who is us, may enter.
base::Result<base::UniqueFd> take_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return base::fail_errno("create", path);
  base::UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return base::fail_errno("open", path);
  struct stat about{};
  if (::fstat(folder.get(), &about) != 0) return base::fail_errno("look at", path);
  if (about.st_uid != ::geteuid()) {
    return base::fail(base::Code::kNoPermission,
                      fmt::format("{} belongs to user {}", path, about.st_uid));
  }
  if (::fchmod(folder.get(), 0700) != 0) return base::fail_errno("close to others", path);
  return folder;
}

bool is_allowed(int peer) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return false;
  return credentials.uid == 0 || credentials.uid == ::geteuid();
}

ControlReply carry_out(const ControlRequest& request, const ControlSocket::Act& act) {
  if (request.magic != kControlMagic || request.version != kControlVersion) {
    return make_reply(ControlStatus::kRefused, "this daemon is of another version");
  }
  switch (static_cast<ControlVerb>(request.verb)) {
    case ControlVerb::kDrain:
    case ControlVerb::kResume:
      return act(static_cast<ControlVerb>(request.verb));
  }
  return make_reply(ControlStatus::kRefused, "this daemon does not know that order");
}

}  // namespace

base::Result<ControlSocket> ControlSocket::open(const std::string& run_folder) {
  const std::string path = control_folder(run_folder);
  auto folder = take_folder(path);
  if (!folder) return std::unexpected(folder.error());
  auto socket = bind_local(*folder, std::string(kControlName), SOCK_SEQPACKET, 0600);
  if (!socket) return std::unexpected(socket.error());
  if (::listen(socket->get(), kMostPeers) != 0) return base::fail_errno("listen on", path);
  return ControlSocket(*std::move(folder), path, *std::move(socket));
}

ControlSocket::~ControlSocket() {
  if (!folder_.is_open()) return;
  ::unlinkat(folder_.get(), std::string(kControlName).c_str(), 0);
  ::rmdir(path_.c_str());
}

void ControlSocket::add_to(std::vector<pollfd>& waited) const {
  waited.push_back({.fd = socket_.get(), .events = POLLIN, .revents = 0});
  for (const Peer& peer : peers_) {
    waited.push_back({.fd = peer.socket.get(), .events = POLLIN, .revents = 0});
  }
}

void ControlSocket::serve(std::int64_t now_ns, const Act& act) {
  accept_all(now_ns);
  std::erase_if(peers_, [&](const Peer& peer) {
    return answer(peer, act) || now_ns - peer.since_ns > kPatienceNs;
  });
}

// Those beyond the limit are let go of at once: who may give orders is not in such a crowd.
void ControlSocket::accept_all(std::int64_t now_ns) {
  for (std::size_t taken = 0; taken < kMostPeers; ++taken) {
    base::UniqueFd peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!peer.is_open()) return;
    if (peers_.size() >= kMostPeers) continue;
    const bool allowed = is_allowed(peer.get());
    peers_.push_back({.socket = std::move(peer), .is_allowed = allowed, .since_ns = now_ns});
  }
}

// True: this peer is done with.
bool ControlSocket::answer(const Peer& peer, const Act& act) {
  ControlRequest request;
  const ssize_t got =
      ::recv(peer.socket.get(), &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
  if (got < 0) return errno != EAGAIN && errno != EINTR;
  if (got == 0) return true;
  ControlReply reply;
  if (!peer.is_allowed) {
    reply = make_reply(ControlStatus::kRefused, "only the daemon's own user and root may do this");
  } else if (got != sizeof(request)) {
    reply = make_reply(ControlStatus::kRefused, "this is no order");
  } else {
    reply = carry_out(request, act);
  }
  ::send(peer.socket.get(), &reply, sizeof(reply), MSG_DONTWAIT | MSG_NOSIGNAL);
  return true;
}

}  // namespace everywatt::app
