// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/unique_fd.h"

namespace everywatt::base {

Result<std::string> read_file(const std::string& path, std::size_t limit_bytes) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return fail_errno("open", path);
  std::string content;
  std::size_t used = 0;
  // Small first step: most files of /proc fit, and a large buffer would be cleared for each.
  content.resize(4096);
  while (true) {
    if (used == content.size()) content.resize(content.size() * 2);
    const ssize_t got = ::read(fd.get(), content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read", path);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > limit_bytes) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{} is larger than {} bytes", path, limit_bytes));
    }
  }
  content.resize(used);
  return content;
}

Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                     static_cast<mode_t>(mode)));
  if (!fd.is_open()) return fail_errno("create", temporary);
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t put = ::write(fd.get(), content.data() + written, content.size() - written);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int error_number = errno;
      ::unlink(temporary.c_str());
      return fail_errno("write", temporary, error_number);
    }
    written += static_cast<std::size_t>(put);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error_number = errno;
    ::unlink(temporary.c_str());
    return fail_errno("rename", temporary, error_number);
  }
  return {};
}

}  // namespace everywatt::base
