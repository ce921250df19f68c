// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "record/recorder/reader.h"
#include "record/recorder/tables.h"
#include "record/recorder/writer.h"

// For this room's tests: files as small as they come, and files that no File would make.
namespace everywatt::recorder {

inline constexpr std::uint32_t kSmallFileGpu = 0;

// One GPU with rings of `capacity` rows in the lanes gauge and power.
inline LayoutOptions small_layout(std::uint64_t capacity) {
  using catalog::Lane;
  return {.devices = {{.scope = catalog::Scope::kGpu}},
          .rings = {{.device = kSmallFileGpu, .lane = Lane::kGauge, .capacity = capacity},
                    {.device = kSmallFileGpu, .lane = Lane::kPower, .capacity = capacity}},
          .origin = Origin{.boot_id = {1, 2, 3}, .created_ns = 1'000, .created_wall_ns = 5'000}};
}

inline base::UniqueFd duplicate(int fd) {
  return base::UniqueFd(::dup(fd));
}

inline std::unique_ptr<Reader> read_of(const File& file) {
  return Reader::adopt(duplicate(file.fd()), "the test's file").value();
}

// A file in memory that holds `bytes`.
inline base::UniqueFd file_of(std::span<const std::byte> bytes) {
  base::UniqueFd fd(::memfd_create("everywatt-test", MFD_CLOEXEC));
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t put = ::write(fd.get(), bytes.data() + written, bytes.size() - written);
    if (put <= 0) return {};
    written += static_cast<std::size_t>(put);
  }
  return fd;
}

inline base::Result<std::unique_ptr<Reader>> open_image(std::span<const std::byte> bytes) {
  return Reader::adopt(file_of(bytes), "the test's file");
}

// The whole of a file.
inline std::vector<std::byte> image_of(const File& file) {
  const auto size = static_cast<std::size_t>(::lseek(file.fd(), 0, SEEK_END));
  std::vector<std::byte> bytes(size);
  if (::pread(file.fd(), bytes.data(), size, 0) != static_cast<ssize_t>(size)) return {};
  return bytes;
}

// A file without rows that says what `tables` say, once their rings have places.
inline std::vector<std::byte> image_of(const Tables& tables) {
  std::vector<std::byte> bytes(tables.file_bytes);
  write_tables(tables, bytes.data());
  return bytes;
}

// Puts a number into an image; reseal() makes its checks right again.
template <typename Number>
void poke(std::vector<std::byte>& image, std::size_t offset, Number number) {
  std::memcpy(&image.at(offset), &number, sizeof(number));
}

template <typename Number>
Number peek(const std::vector<std::byte>& image, std::size_t offset) {
  Number number{};
  std::memcpy(&number, &image.at(offset), sizeof(number));
  return number;
}

}  // namespace everywatt::recorder
