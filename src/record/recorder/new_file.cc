// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "record/recorder/format.h"
#include "record/recorder/tables.h"

namespace everywatt::recorder {
namespace {

using base::Code;

// What may be replaced: a regular file of our own user that is a recorder file of any version, or
// holds nothing (a power cut on a disk leaves an empty file or zeros). Anything else at that name
// is somebody's, or a trap.
base::Status check_replaceable(const std::string& path, const struct stat& status) {
  if (S_ISLNK(status.st_mode)) {
    return base::fail(Code::kInvalidArgument, fmt::format("{} is a symbolic link", path),
                      "remove it: recorder files are not written through links");
  }
  if (!S_ISREG(status.st_mode)) {
    return base::fail(Code::kInvalidArgument, fmt::format("{} is not a regular file", path));
  }
  if (status.st_uid != ::geteuid()) {
    return base::fail(Code::kNoPermission,
                      fmt::format("{} belongs to another user (uid {})", path, status.st_uid),
                      "remove it or choose another place");
  }
  return {};
}

using HeaderBytes = std::array<std::byte, sizeof(Header)>;

bool is_blank(const HeaderBytes& bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// Of this version and whole: only then is `successor` where we think.
bool is_current_header(const HeaderBytes& bytes) {
  alignas(Header) HeaderBytes aligned = bytes;
  std::uint32_t version = 0;
  std::uint64_t check = 0;
  std::memcpy(&version, &aligned[offsetof(Header, version)], sizeof(version));
  std::memcpy(&check, &aligned[offsetof(Header, header_check)], sizeof(check));
  return version == kVersion && check == compute_header_check(aligned.data());
}

// The file at `path` opened for its last mark; closed: nothing there, or nothing to mark.
base::Result<base::UniqueFd> open_predecessor(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return base::UniqueFd();
    return base::fail_errno("look at", path);
  }
  if (auto fine = check_replaceable(path, status); !fine) return std::unexpected(fine.error());
  base::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.is_open()) return base::fail_errno("open", path);
  // Again, for the file may have been exchanged in between.
  if (::fstat(fd.get(), &status) != 0) return base::fail_errno("look at", path);
  if (auto fine = check_replaceable(path, status); !fine) return std::unexpected(fine.error());

  HeaderBytes bytes{};
  if (::pread(fd.get(), bytes.data(), bytes.size(), 0) < 0) return base::fail_errno("read", path);
  std::uint64_t magic = 0;
  std::memcpy(&magic, bytes.data(), sizeof(magic));
  if (magic != kMagic && !is_blank(bytes)) {
    return base::fail(Code::kInvalidArgument,
                      fmt::format("{} exists and is not a recorder file", path),
                      "remove it or choose another name");
  }
  return is_current_header(bytes) ? std::move(fd) : base::UniqueFd();
}

base::UniqueFd open_exclusive(const std::string& path) {
  return base::UniqueFd(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
}

// Through the descriptor, not a mapping: on a full copy-on-write disk a store would be SIGBUS. A
// reader polls this one word, so nothing is ordered by it.
void mark_succeeded(int fd) {
  const std::uint64_t yes = 1;
  // Its readers not hearing of it is no reason to fail: they see that its writers are gone.
  static_cast<void>(!::pwrite(fd, &yes, sizeof(yes), offsetof(Header, successor)));
}

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

base::Result<NewFile> NewFile::create(const std::string& path, unsigned mode) {
  auto predecessor = open_predecessor(path);
  if (!predecessor) return std::unexpected(predecessor.error());
  NewFile file;
  file.path_ = path;
  file.predecessor_ = std::move(*predecessor);
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  file.fd_ = open_exclusive(temporary);
  if (!file.fd_.is_open() && errno == EEXIST) {
    // A process with our number died over it.
    ::unlink(temporary.c_str());
    file.fd_ = open_exclusive(temporary);
  }
  if (!file.fd_.is_open()) return base::fail_errno("create a file in", folder_of(path));
  file.temporary_ = temporary;
  // Not by open(), which would take the umask off it.
  if (::fchmod(file.fd(), static_cast<mode_t>(mode)) != 0) {
    return base::fail_errno("set the mode of", path);
  }
  return file;
}

base::Result<NewFile> NewFile::create_anonymous() {
  NewFile file;
  file.fd_ = base::UniqueFd(::memfd_create("everywatt-recorder", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.fd_.is_open()) return base::fail_errno("create", "a file in memory");
  return file;
}

NewFile::~NewFile() {
  // What was moved from has no descriptor; its strings may say anything.
  if (fd_.is_open() && !temporary_.empty()) ::unlink(temporary_.c_str());
}

base::Status NewFile::commit() {
  if (path_.empty()) {
    // Whoever maps it may trust its size for good.
    if (::fcntl(fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
      return base::fail_errno("seal", "a file in memory");
    }
    return {};
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return base::fail_errno("create", path_);
  temporary_.clear();
  if (predecessor_.is_open()) mark_succeeded(predecessor_.get());
  return {};
}

base::Status set_size(int fd, std::uint64_t bytes, const std::string& name) {
  if (::ftruncate(fd, static_cast<off_t>(bytes)) == 0) return {};
  return base::fail_errno(fmt::format("make {} bytes of", bytes), name);
}

base::Status make_room(int fd, std::uint64_t offset, std::uint64_t bytes, const std::string& name) {
  int error = EINTR;
  while (error == EINTR) {
    error = ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  }
  if (error == 0) return {};
  auto failed =
      base::fail_errno(fmt::format("make room for {} KiB in", (bytes + 1023) / 1024), name, error);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    failed.error().hint = "free space in its folder, or choose another";
  }
  return failed;
}

bool is_in_memory(int fd) {
  struct statfs status{};
  if (::fstatfs(fd, &status) != 0) return false;
  return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

}  // namespace everywatt::recorder
