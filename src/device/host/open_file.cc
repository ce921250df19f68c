// SPDX-License-Identifier: Apache-2.0
#include "device/host/open_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace everywatt::host {
namespace {

// Most of what is read fits: /proc/PID/stat is 300 bytes, meminfo 1.5 kB.
constexpr std::size_t kFirstBytes = 2048;
constexpr ssize_t kHalfPageBytes = 2048;

bool is_kernel_file(int fd) {
  struct statfs system{};
  if (::fstatfs(fd, &system) != 0) return false;
  return system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC ||
         system.f_type == CGROUP2_SUPER_MAGIC || system.f_type == CGROUP_SUPER_MAGIC;
}

}  // namespace

OpenFile::OpenFile(const Root& root, std::string absolute, std::size_t limit_bytes, Lines lines)
    : path_(root.path(absolute)), limit_bytes_(limit_bytes), lines_(lines) {}

base::Result<std::string_view> OpenFile::read() {
  if (!fd_.is_open()) {
    // Not blocking: a pipe that somebody put there must not hold us up.
    fd_.reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd_.is_open()) return base::fail_errno("open", path_);
    stays_open_ = is_kernel_file(fd_.get());
  }
  if (buffer_.empty()) buffer_.resize(std::min(kFirstBytes, limit_bytes_));
  std::size_t used = 0;
  while (used < limit_bytes_) {
    if (used == buffer_.size()) buffer_.resize(std::min(limit_bytes_, buffer_.size() * 2));
    const ssize_t got =
        ::pread(fd_.get(), buffer_.data() + used, buffer_.size() - used, static_cast<off_t>(used));
    if (got < 0) {
      if (errno == EINTR) continue;
      const int reason = errno;
      fd_.reset();
      // A process that ended: its files answer ESRCH.
      if (reason == ESRCH || reason == ENODEV) {
        return base::fail(base::Code::kNotFound, path_ + ": gone");
      }
      return base::fail_errno("read", path_, reason);
    }
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    // The kernel hands its lists out in pages of whole lines, so a short answer need not be the end
    // of the file. Where no line is longer than half a page, one of less than that is.
    const bool is_end = used < buffer_.size() && got < kHalfPageBytes;
    if (is_end && lines_ == Lines::kShort) break;
  }
  if (!stays_open_) fd_.reset();
  return std::string_view(buffer_.data(), used);
}

}  // namespace everywatt::host
