// SPDX-License-Identifier: Apache-2.0
#include "app/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

// In a run folder that is not memory-backed: the path of the folder that is.
constexpr std::string_view kElsewhereName = "elsewhere";
// Holds the lock. The folder itself could not: whoever may read it could lock it, too, and keep us
// out.
constexpr std::string_view kLockName = "lock";
constexpr const char* kSharedMemory = "/dev/shm";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_memory_backed(const std::string& path) {
  struct statfs about{};
  if (::statfs(path.c_str(), &about) != 0) return false;
  return about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC;
}

std::uint64_t free_bytes(const std::string& path) {
  struct statvfs about{};
  if (::statvfs(path.c_str(), &about) != 0) return 0;
  return static_cast<std::uint64_t>(about.f_bavail) * about.f_frsize;
}

// What an earlier recorder takes there: it is written on, or makes room for its successor.
std::uint64_t recorder_bytes(const std::string& folder) {
  struct stat about{};
  const std::string path = folder + "/" + std::string(kRecorderName);
  if (::lstat(path.c_str(), &about) != 0) return 0;
  return static_cast<std::uint64_t>(about.st_blocks) * 512;
}

// Without a slash at its end, which would lead through a symbolic link.
base::Result<std::string> absolute_path(const std::string& path) {
  std::error_code error;
  std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error) return base::fail_errno("find", path, error.value());
  while (absolute.size() > 1 && absolute.ends_with('/')) {
    absolute.pop_back();
  }
  return absolute;
}

// Only the last part is made: a missing parent is a typing error, or a machine without it.
base::Status make_folder(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return base::fail_errno("create", path);
}

// Opens the folder itself, never through a link in its last part, and checks that it is ours alone
// to write to.
base::Result<base::UniqueFd> open_folder(const std::string& path) {
  base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.is_open() && (errno == ELOOP || errno == ENOTDIR)) {
    return base::fail(base::Code::kNoPermission,
                      fmt::format("{} is a symbolic link or not a folder", path),
                      "name the folder itself with --run-dir");
  }
  if (!fd.is_open()) return base::fail_errno("open", path);
  struct stat about{};
  if (::fstat(fd.get(), &about) != 0) return base::fail_errno("look at", path);
  if (about.st_uid != ::geteuid()) {
    return base::fail(base::Code::kNoPermission,
                      fmt::format("{} belongs to user {}", path, about.st_uid),
                      "name another folder with --run-dir");
  }
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return base::fail(base::Code::kNoPermission, fmt::format("others may write to {}", path),
                      fmt::format("run: chmod go-w {}", path));
  }
  return fd;
}

// The lock of the folder, which is held until it is closed. It stays: a name that came and went
// could be locked twice.
base::Result<base::UniqueFd> lock_folder(const base::UniqueFd& folder, const std::string& path) {
  const std::string name(kLockName);
  base::UniqueFd lock(::openat(folder.get(), name.c_str(),
                               O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!lock.is_open()) return base::fail_errno("create", fmt::format("{}/{}", path, name));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return base::fail(base::Code::kUnavailable,
                      fmt::format("another everywatt serve runs with {}", path),
                      "stop it, or name another folder with --run-dir");
  }
  return lock;
}

std::string shared_memory_folder(const std::string& path) {
  return fmt::format("{}/everywatt-{}-{:016x}", kSharedMemory, ::geteuid(),
                     std::hash<std::string>{}(path));
}

// The folder in shared memory that stands in for one on a disk, locked too: containers that share
// that memory may have run folders of the same name. Nothing where there is none to be had.
struct MemoryFolder {
  std::string path;
  base::UniqueFd lock;
};
std::optional<MemoryFolder> find_memory_for(const std::string& path, std::uint64_t needed_bytes,
                                            mode_t mode) {
  std::string folder = shared_memory_folder(path);
  const std::uint64_t room = free_bytes(kSharedMemory) + recorder_bytes(folder);
  if (!is_memory_backed(kSharedMemory) || room < needed_bytes) return {};
  if (!make_folder(folder, mode)) return {};
  const auto opened = open_folder(folder);
  if (!opened) return {};
  auto lock = lock_folder(*opened, folder);
  if (!lock) return {};
  const std::string note = path + "/" + std::string(kElsewhereName);
  if (!base::write_file_atomically(note, folder + "\n", 0644)) return {};
  return MemoryFolder{.path = std::move(folder), .lock = *std::move(lock)};
}

// The mode that a folder is made with: below /tmp it is its owner's alone.
mode_t folder_mode(const std::string& path) {
  return path.starts_with("/tmp/everywatt-") ? 0700 : 0755;
}

}  // namespace

RunFolderSources run_folder_sources(const std::string& asked) {
  return {.asked = asked,
          .everywatt_run_dir = variable("EVERYWATT_RUN_DIR"),
          .xdg_runtime_dir = variable("XDG_RUNTIME_DIR"),
          .uid = ::geteuid()};
}

std::string choose_run_folder(const RunFolderSources& sources) {
  if (!sources.asked.empty()) return sources.asked;
  if (!sources.everywatt_run_dir.empty()) return sources.everywatt_run_dir;
  if (sources.uid == 0) return "/run/everywatt";
  if (!sources.xdg_runtime_dir.empty()) return sources.xdg_runtime_dir + "/everywatt";
  return fmt::format("/tmp/everywatt-{}", sources.uid);
}

std::vector<std::string> run_folders_to_search(const RunFolderSources& sources) {
  if (!sources.asked.empty()) return {sources.asked};
  if (!sources.everywatt_run_dir.empty()) return {sources.everywatt_run_dir};
  std::vector<std::string> folders = {"/run/everywatt"};
  const std::string own = choose_run_folder(sources);
  if (own != folders.front()) folders.push_back(own);
  return folders;
}

std::string recorder_folder(const std::string& run_folder) {
  const std::string note = run_folder + "/" + std::string(kElsewhereName);
  struct stat about{};
  // A pipe under that name would keep the reader for ever.
  if (::stat(note.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return run_folder;
  const auto elsewhere = base::read_file(note, 4096);
  return elsewhere ? std::string(base::trim(*elsewhere)) : run_folder;
}

base::Result<RunFolder> take_run_folder(const std::string& asked, std::uint64_t needed_bytes) {
  const auto absolute = absolute_path(asked);
  if (!absolute) return std::unexpected(absolute.error());
  const std::string& path = *absolute;
  const mode_t mode = folder_mode(path);
  if (auto made = make_folder(path, mode); !made) return std::unexpected(made.error());
  const auto opened = open_folder(path);
  if (!opened) return std::unexpected(opened.error());
  auto lock = lock_folder(*opened, path);
  if (!lock) return std::unexpected(lock.error());
  RunFolder folder{
      .path = path, .files = path, .warning = {}, .lock = *std::move(lock), .files_lock = {}};
  const std::string note = path + "/" + std::string(kElsewhereName);
  if (free_bytes(path) + recorder_bytes(path) < needed_bytes) {
    return base::fail(base::Code::kIo,
                      fmt::format("{} has no room for the recorder: it needs {} MiB", path,
                                  (needed_bytes >> 20) + 1),
                      "free some, or name another folder with --run-dir");
  }
  if (is_memory_backed(path)) {
    ::unlink(note.c_str());
    return folder;
  }
  auto memory = find_memory_for(path, needed_bytes, mode);
  if (!memory) {
    ::unlink(note.c_str());
    folder.warning = fmt::format(
        "{} is not memory-backed and {} cannot take its place: the recorder is written to a disk",
        path, kSharedMemory);
    return folder;
  }
  folder.files = memory->path;
  folder.files_lock = std::move(memory->lock);
  folder.warning =
      fmt::format("{} is not memory-backed: the recorder is in {}", path, folder.files);
  return folder;
}

}  // namespace everywatt::app
