// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace everywatt::base {

enum class MapAccess { kReadOnly, kReadWrite };

// A whole file mapped shared. Move-only; unmaps in the destructor; the descriptor stays open.
// A reader that maps a file which somebody truncates later would get SIGBUS: files of ours are
// never truncated once they have their name, and open() re-reads the size, so callers may trust
// size().
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // Maps the whole of `fd` (of which it takes ownership). `name` is for messages only.
  // An empty file is kCorrupt.
  static Result<MappedFile> map(UniqueFd fd, MapAccess access, const std::string& name);
  // Opens `path` (O_CLOEXEC, never through a symbolic link, a regular file only) and maps it.
  static Result<MappedFile> open(const std::string& path, MapAccess access);

  std::byte* bytes() const { return bytes_; }
  std::size_t size() const { return size_; }
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace everywatt::base
