// SPDX-License-Identifier: Apache-2.0
#include "device/host/memory_map.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "device/host/lines.h"

namespace everywatt::host {
namespace {

// "7f0c-7f0d rw-s 00000000 00:1a 1234 /run/everywatt/recorder"
std::optional<FileNumber> parse_mapping(std::string_view line) {
  std::string_view range = take_word(line);
  const std::string_view start = take_until(range, '-');
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (start.empty() || range.empty() || !std::ranges::all_of(start, is_hex)) return std::nullopt;
  take_word(line);  // rights
  take_word(line);  // offset
  std::string_view minor = take_word(line);
  const std::string_view major = take_until(minor, ':');
  FileNumber file;
  std::from_chars(major.data(), major.data() + major.size(), file.device_major, 16);
  std::from_chars(minor.data(), minor.data() + minor.size(), file.device_minor, 16);
  const auto inode = take_u64(line);
  if (!inode) return std::nullopt;
  file.inode = *inode;
  return file;
}

}  // namespace

base::Result<FileNumber> read_file_number(int fd) {
  struct stat file{};
  if (::fstat(fd, &file) != 0) return base::fail_errno("look at", "descriptor");
  return FileNumber{
      .device_major = major(file.st_dev), .device_minor = minor(file.st_dev), .inode = file.st_ino};
}

base::Result<ProportionalMemory> parse_proportional_memory(std::string_view smaps,
                                                           std::span<const FileNumber> files) {
  ProportionalMemory memory;
  bool has_mapping = false;
  bool is_asked_for = false;
  while (!smaps.empty()) {
    std::string_view line = take_until(smaps, '\n');
    if (line.starts_with("Pss:")) {
      line.remove_prefix(4);
      const std::uint64_t bytes = scaled(take_u64(line), 1024).value_or(0);
      memory.total_bytes += bytes;
      if (is_asked_for) memory.file_bytes += bytes;
    } else if (!line.empty() && (line.front() < 'A' || line.front() > 'Z')) {
      const auto file = parse_mapping(line);
      if (!file) continue;
      has_mapping = true;
      is_asked_for = file->inode != 0 && std::ranges::find(files, *file) != files.end();
    }
  }
  if (!has_mapping) return base::fail(base::Code::kCorrupt, "/proc/PID/smaps: no mapping");
  return memory;
}

}  // namespace everywatt::host
