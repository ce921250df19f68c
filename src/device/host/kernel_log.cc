// SPDX-License-Identifier: Apache-2.0
#include "device/host/kernel_log.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "device/host/lines.h"

namespace everywatt::host {
namespace {

// The kernel refuses to read into less than a whole record, whose limit is 8 KiB with attributes.
constexpr std::size_t kRecordBytes = 8192;
constexpr std::size_t kChunkBytes = 65536;

}  // namespace

base::Result<KernelLog> KernelLog::open(const std::string& path) {
  KernelLog log;
  log.path_ = path;
  log.fd_.reset(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!log.fd_.is_open()) return base::fail_errno("open", path);
  struct stat kind{};
  if (::fstat(log.fd_.get(), &kind) != 0) return base::fail_errno("open", path);
  log.is_plain_ = S_ISREG(kind.st_mode);
  if (log.is_plain_) {
    log.watch_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    // Without the watch the file is still read at each tick, only not at once.
    if (log.watch_.is_open()) {
      ::inotify_add_watch(log.watch_.get(), path.c_str(),
                          IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF);
    }
  } else if (!S_ISCHR(kind.st_mode)) {
    return base::fail(base::Code::kInvalidArgument, path + ": neither a file nor a kernel log");
  }
  log.buffer_.resize(log.is_plain_ ? kChunkBytes : kRecordBytes);
  return log;
}

int KernelLog::poll_fd() const {
  if (!is_polled_) return -1;
  return is_plain_ ? watch_.get() : fd_.get();
}

KernelLog::More KernelLog::read(std::size_t limit, std::vector<KernelRecord>& records) {
  records.clear();
  return is_plain_ ? read_plain(limit, records) : read_device(limit, records);
}

void KernelLog::take(std::string_view record, std::vector<KernelRecord>& records) {
  auto parsed = parse_kernel_record(record);
  if (!parsed) {
    ++malformed_;
    return;
  }
  records.push_back(std::move(*parsed));
}

KernelLog::More KernelLog::read_device(std::size_t limit, std::vector<KernelRecord>& records) {
  // Each read gives one record. An overrun (EPIPE) moves us to the oldest one that is still there.
  // Reads are counted, not records: a device that is no log may have neither a record nor an end.
  for (std::size_t reads = 0; reads < limit; ++reads) {
    const ssize_t got = ::read(fd_.get(), buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;
    // A device that has an end (/dev/null) or fails would be readable for ever.
    if (got == 0 || (got < 0 && errno != EAGAIN)) is_polled_ = false;
    if (got <= 0) return More::kNone;
    const std::size_t before = records.size();
    take(std::string_view(buffer_.data(), static_cast<std::size_t>(got)), records);
    if (records.size() == before) continue;
    const std::uint64_t sequence = records.back().sequence;
    if (last_sequence_ && sequence > *last_sequence_ + 1) lost_ += sequence - *last_sequence_ - 1;
    last_sequence_ = sequence;
  }
  return More::kMaybe;
}

bool KernelLog::reopen_if_replaced() {
  struct stat ours{};
  struct stat named{};
  if (::fstat(fd_.get(), &ours) != 0 || ::stat(path_.c_str(), &named) != 0) return false;
  const bool is_same = ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
  if (is_same && static_cast<std::uint64_t>(ours.st_size) >= offset_) return false;
  if (!is_same) {
    base::UniqueFd next(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (!next.is_open()) return false;
    fd_ = std::move(next);
    if (watch_.is_open()) {
      ::inotify_add_watch(watch_.get(), path_.c_str(), IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF);
    }
  }
  offset_ = 0;
  rest_.clear();
  return true;
}

KernelLog::More KernelLog::read_plain(std::size_t limit, std::vector<KernelRecord>& records) {
  std::array<char, 4096> notes{};
  while (watch_.is_open() && ::read(watch_.get(), notes.data(), notes.size()) > 0) {
  }
  std::size_t lines = 0;
  while (true) {
    // Whole lines first that an earlier call left because of its limit.
    std::string_view unread = rest_;
    for (; lines < limit; ++lines) {
      const auto end = unread.find('\n');
      if (end == std::string_view::npos) break;
      const std::string_view line = unread.substr(0, end);
      if (!line.empty() && line.front() != ' ') take(line, records);
      unread.remove_prefix(end + 1);
    }
    rest_.erase(0, rest_.size() - unread.size());
    if (lines >= limit) return More::kMaybe;
    // A line without an end is not kept for ever.
    if (rest_.size() > kRecordBytes) {
      ++malformed_;
      rest_.clear();
    }
    const ssize_t got =
        ::pread(fd_.get(), buffer_.data(), buffer_.size(), static_cast<off_t>(offset_));
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      offset_ += static_cast<std::uint64_t>(got);
      rest_.append(buffer_.data(), static_cast<std::size_t>(got));
    } else if (!reopen_if_replaced()) {
      return More::kNone;
    }
  }
}

}  // namespace everywatt::host
