// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

namespace everywatt::base {

MappedFile::MappedFile(MappedFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      bytes_(std::exchange(other.bytes_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    if (bytes_ != nullptr) ::munmap(bytes_, size_);
    fd_ = std::move(other.fd_);
    bytes_ = std::exchange(other.bytes_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_ != nullptr) ::munmap(bytes_, size_);
}

Result<MappedFile> MappedFile::map(UniqueFd fd, MapAccess access, const std::string& name) {
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail_errno("stat", name);
  if (!S_ISREG(status.st_mode)) {
    return fail(Code::kInvalidArgument, fmt::format("{} is not a regular file", name));
  }
  if (status.st_size <= 0) return fail(Code::kCorrupt, fmt::format("{} is empty", name));
  const auto size = static_cast<std::size_t>(status.st_size);
  const int protection = access == MapAccess::kReadWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = ::mmap(nullptr, size, protection, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) return fail_errno("map", name);
  MappedFile file;
  file.fd_ = std::move(fd);
  file.bytes_ = static_cast<std::byte*>(address);
  file.size_ = size;
  return file;
}

Result<MappedFile> MappedFile::open(const std::string& path, MapAccess access) {
  const int flags =
      (access == MapAccess::kReadWrite ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  UniqueFd fd(::open(path.c_str(), flags));
  if (!fd.is_open()) return fail_errno("open", path);
  return map(std::move(fd), access, path);
}

}  // namespace everywatt::base
