// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/new_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
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

// The descriptor holds a lock as long as its process is alive and the file has no name of its own:
// by it others tell a file that is being made from one that a killed process left. Process numbers
// would not do, for a folder may be shared with containers that count for themselves.
bool lock(int fd) {
  int result = -1;
  do {
    result = ::flock(fd, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

bool is_name_of(const std::string& path, int fd) {
  struct stat named{};
  struct stat open{};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(fd, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string_view name_in(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// NAME.NUMBER.tmp
bool is_temporary_of(std::string_view name, std::string_view candidate) {
  constexpr std::string_view kEnd = ".tmp";
  if (!candidate.starts_with(name) || !candidate.ends_with(kEnd)) return false;
  if (candidate.size() < name.size() + 2 + kEnd.size() || candidate[name.size()] != '.') {
    return false;
  }
  candidate.remove_prefix(name.size() + 1);
  candidate.remove_suffix(kEnd.size());
  return candidate.find_first_not_of("0123456789") == candidate.npos;
}

void remove_if_dead(const std::string& temporary) {
  const base::UniqueFd fd(
      ::open(temporary.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0) return;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return;
  if (lock(fd.get()) && is_name_of(temporary, fd.get())) ::unlink(temporary.c_str());
}

// What processes that were killed before they could name their file left beside `path`. That it
// cannot be listed or removed is no reason to fail.
void remove_dead(const std::string& path) {
  struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  const std::string folder = folder_of(path);
  const std::unique_ptr<DIR, CloseFolder> listing(::opendir(folder.c_str()));
  if (listing == nullptr) return;
  while (const dirent* entry = ::readdir(listing.get())) {
    if (is_temporary_of(name_in(path), entry->d_name)) {
      remove_if_dead(folder + "/" + entry->d_name);
    }
  }
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

}  // namespace

base::Result<NewFile> NewFile::create(const std::string& path, unsigned mode) {
  auto predecessor = open_predecessor(path);
  if (!predecessor) return std::unexpected(predecessor.error());
  NewFile file;
  file.path_ = path;
  file.predecessor_ = std::move(*predecessor);
  remove_dead(path);
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  file.fd_ = open_exclusive(temporary);
  if (!file.fd_.is_open() && errno == EEXIST) {
    // A process with our number died over it, where there are no locks.
    ::unlink(temporary.c_str());
    file.fd_ = open_exclusive(temporary);
  }
  if (!file.fd_.is_open()) return base::fail_errno("create a file in", folder_of(path));
  file.temporary_ = temporary;
  // A file system without locks keeps what the dead left; one of our own number is replaced.
  static_cast<void>(lock(file.fd()));
  struct stat status{};
  if (::fstat(file.fd(), &status) == 0 && status.st_nlink == 0) {
    file.temporary_.clear();
    return base::fail(Code::kUnavailable,
                      fmt::format("{} was removed while it was made", temporary), "try again");
  }
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
  ::flock(fd(), LOCK_UN);
  if (predecessor_.is_open()) mark_succeeded(predecessor_.get());
  return {};
}

base::Status set_size(int fd, std::uint64_t bytes, const std::string& name) {
  int result = -1;
  do {
    result = ::ftruncate(fd, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return {};
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
