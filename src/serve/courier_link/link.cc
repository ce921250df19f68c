// SPDX-License-Identifier: Apache-2.0
#include "serve/courier_link/link.h"

#include <sys/socket.h>
#include <cerrno>

#include <array>

namespace everywatt::courier_link {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
// At a time: a side that never stops talking does not keep the other from its work.
constexpr unsigned kReads = 128;

std::unexpected<base::Error> ended() {
  return base::fail(base::Code::kUnavailable, "the other side has ended");
}

}  // namespace

Link::Link(base::UniqueFd socket, std::size_t unsent_bytes)
    : socket_(std::move(socket)), limit_bytes_(unsent_bytes) {}

base::Status Link::send(std::string_view bytes) {
  if (bytes.size() > kFrameLimitBytes || kept_bytes_ + bytes.size() > limit_bytes_) {
    return base::fail(base::Code::kUnavailable, "too much waits to be sent");
  }
  unsent_.push_back(format_frame(bytes));
  kept_bytes_ += unsent_.back().size();
  return flush();
}

base::Status Link::flush() {
  while (!unsent_.empty()) {
    const std::string& first = unsent_.front();
    const ssize_t sent = ::send(socket_.get(), first.data() + sent_of_first_,
                                first.size() - sent_of_first_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (sent < 0) return ended();
    sent_of_first_ += static_cast<std::size_t>(sent);
    if (sent_of_first_ < first.size()) continue;
    kept_bytes_ -= first.size();
    sent_of_first_ = 0;
    unsent_.pop_front();
  }
  return {};
}

base::Result<std::vector<std::string>> Link::receive() {
  std::vector<std::string> frames;
  std::array<char, kReadBytes> piece{};
  for (unsigned reads = 0; reads < kReads; ++reads) {
    const ssize_t got = ::recv(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    // What came whole before the end is still heard; the end is told the next time.
    if (got <= 0 && frames.empty()) return ended();
    if (got <= 0) break;
    reader_.add({piece.data(), static_cast<std::size_t>(got)});
    for (;;) {
      auto frame = reader_.next();
      if (!frame) return std::unexpected(frame.error());
      if (!*frame) break;
      frames.push_back(*std::move(*frame));
    }
  }
  return frames;
}

}  // namespace everywatt::courier_link
