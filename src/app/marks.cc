// SPDX-License-Identifier: Apache-2.0
#include "app/marks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <cerrno>

#include "app/local_socket.h"
#include "serve/web/annotation.h"

namespace everywatt::app {
namespace {

// Anybody may leave a mark.
constexpr mode_t kSocketMode = 0666;

base::UniqueFd open_folder(const std::string& path) {
  return base::UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::string link_path(const RunFolder& folder) {
  return fmt::format("{}/{}", folder.files, kJournalName);
}

base::Status link_journal(const RunFolder& folder, const std::string& journal) {
  const std::string link = link_path(folder);
  // Its own, where the run folder is the data folder, too.
  if (link == journal) return {};
  ::unlink(link.c_str());
  if (::symlink(journal.c_str(), link.c_str()) != 0) return base::fail_errno("make the link", link);
  return {};
}

}  // namespace

base::Result<Marks> Marks::open(const RunFolder& folder, const std::string& data_folder) {
  auto journal = open_journal_file(data_folder);
  if (!journal) return std::unexpected(journal.error());
  if (auto linked = link_journal(folder, journal->path); !linked) {
    return std::unexpected(linked.error());
  }
  base::UniqueFd run = open_folder(folder.path);
  if (!run.is_open()) return base::fail_errno("open", folder.path);
  auto socket = bind_local(run, std::string(kAnnotateName), SOCK_DGRAM, kSocketMode);
  if (!socket) return std::unexpected(socket.error());
  const int on = 1;
  if (::setsockopt(socket->get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0) {
    return base::fail_errno("ask for the senders of", kAnnotateName);
  }
  // The server, who gets it, only listens: no data go from it to other sockets of the machine.
  if (::shutdown(socket->get(), SHUT_WR) != 0) return base::fail_errno("close", kAnnotateName);
  return Marks(std::move(run), *std::move(socket), *std::move(journal));
}

Marks::~Marks() {
  if (folder_.is_open()) ::unlinkat(folder_.get(), std::string(kAnnotateName).c_str(), 0);
}

void forget_marks(const RunFolder& folder) {
  ::unlink(fmt::format("{}/{}", folder.path, kAnnotateName).c_str());
  ::unlink(link_path(folder).c_str());
}

base::Status send_mark(const std::string& run_folder, const std::string& message) {
  if (message.size() > web::kMostAnnotationBytes) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("the mark is too long: {} bytes, of at most {}", message.size(),
                                  web::kMostAnnotationBytes));
  }
  const base::UniqueFd folder = open_folder(run_folder);
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return base::fail_errno("make", "a socket");
  // The kernel keeps ten for the server, which takes them at once unless it is being replaced.
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  const LocalAddress address = local_address(folder, kAnnotateName);
  if (::sendto(socket.get(), message.data(), message.size(), MSG_NOSIGNAL, address.get(),
               LocalAddress::kSize) >= 0) {
    return {};
  }
  if (errno == EAGAIN || errno == ENOBUFS) {
    return base::fail(base::Code::kUnavailable, "too many marks come at once", "try again");
  }
  if (errno == ENOENT || errno == ECONNREFUSED) {
    return base::fail(base::Code::kUnavailable,
                      fmt::format("the daemon of {} takes no marks", run_folder),
                      "it has no place for its journal (--data-dir); its log says why");
  }
  return base::fail_errno("send a mark to", run_folder);
}

}  // namespace everywatt::app
