// SPDX-License-Identifier: Apache-2.0
#include "device/host/disks.h"

#include <array>
#include <optional>

#include "device/host/lines.h"

namespace everywatt::host {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // whatever the disk's own sectors are

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_all_letters(std::string_view text) {
  for (const char c : text) {
    if (c < 'a' || c > 'z') return false;
  }
  return !text.empty();
}

bool is_number(std::string_view text) {
  for (const char c : text) {
    if (!is_digit(c)) return false;
  }
  return !text.empty();
}

}  // namespace

bool is_whole_disk(std::string_view name) {
  // sda, vdb, xvdc, hda: letters alone; a partition has a number.
  for (const std::string_view prefix : {"sd", "vd", "xvd", "hd"}) {
    if (name.starts_with(prefix)) return is_all_letters(name.substr(prefix.size()));
  }
  // nvme0n1, mmcblk0, pmem0, nbd0, rbd0, drbd0: end in the number of the disk; a partition adds p1.
  // nvme0c0n1 is one path of a multipath disk that is there as nvme0n1.
  if (name.starts_with("nvme")) {
    std::string_view rest = name.substr(4);
    const std::string_view controller = take_until(rest, 'n');
    return is_number(controller) && is_number(rest);
  }
  for (const std::string_view prefix : {"mmcblk", "pmem", "nbd", "rbd", "drbd", "dasd"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    return is_number(rest) || (prefix == "dasd" && is_all_letters(rest));
  }
  return false;
}

void parse_disks(std::string_view diskstats, std::vector<Disk>& disks) {
  disks.clear();
  while (!diskstats.empty()) {
    std::string_view line = take_until(diskstats, '\n');
    take_word(line);  // major
    take_word(line);  // minor
    const std::string_view name = take_word(line);
    if (!is_whole_disk(name)) continue;
    // reads, merged, sectors, ms; the same for writes; in flight, busy ms
    std::array<std::uint64_t, 10> numbers{};
    bool is_complete = true;
    for (std::uint64_t& number : numbers) {
      const auto value = take_u64(line);
      is_complete = is_complete && value.has_value();
      number = value.value_or(0);
    }
    if (!is_complete) continue;
    disks.push_back({.name = name,
                     .read_bytes = numbers[2] * kSectorBytes,
                     .written_bytes = numbers[6] * kSectorBytes,
                     .reads = numbers[0],
                     .writes = numbers[4],
                     .wait_seconds = static_cast<double>(numbers[3] + numbers[7]) * 1e-3,
                     .busy_seconds = static_cast<double>(numbers[9]) * 1e-3});
  }
}

}  // namespace everywatt::host
