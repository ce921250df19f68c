// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace everywatt::host {

// A block device since boot.
struct Disk {
  std::string_view name;  // "nvme0n1", a view into the text
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  double wait_seconds = 0;  // summed over requests: may grow faster than time
  double busy_seconds = 0;  // at least one request under way
};

// The whole disks of /proc/diskstats into `disks`, in its order: no partitions, no loop, RAM and
// compressed-RAM devices, no device mapper or software RAID, whose disks are there already, no
// floppy or CD drive. Lines that are not of the format are skipped.
void parse_disks(std::string_view diskstats, std::vector<Disk>& disks);

// Whether a block device of that name is a whole disk of its own.
bool is_whole_disk(std::string_view name);

}  // namespace everywatt::host
