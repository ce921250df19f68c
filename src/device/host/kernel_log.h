// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace everywatt::host {

// One record of the kernel's log.
struct KernelRecord {
  unsigned priority = 0;  // 0 emergency ... 7 debug
  std::uint64_t sequence = 0;
  // The kernel's own stamp: nanoseconds since boot by the scheduler's clock, which stands still in
  // suspend and may drift off boottime by some seconds a month.
  std::int64_t time_ns = 0;
  std::string text;  // cleaned, at most kKernelTextBytes
};
inline constexpr std::size_t kKernelTextBytes = 1024;

// "6,1234,98765432,-;text", as /dev/kmsg writes it: priority and facility, sequence, microseconds,
// flags. Lines that follow and start with a blank are attributes and are left out. Nothing when it
// is not a record.
std::optional<KernelRecord> parse_kernel_record(std::string_view record);

// The kernel's log from its oldest record on, then as it grows: /dev/kmsg, or a plain file of such
// records, one a line. Not thread-safe. Never blocks.
class KernelLog {
 public:
  // kNoPermission: /dev/kmsg needs CAP_SYSLOG where dmesg is restricted.
  static base::Result<KernelLog> open(const std::string& path);

  enum class More { kNone, kMaybe };
  // Records that have come since the last call into `records`, out of at most `limit` lines.
  // kMaybe: so many lines were there that the next call may find more. How many records were
  // overwritten before they could be read is added to lost().
  More read(std::size_t limit, std::vector<KernelRecord>& records);

  // Records that the kernel dropped before they were read, and lines that were no records.
  std::uint64_t lost() const { return lost_; }
  std::uint64_t malformed() const { return malformed_; }

  // What poll() finds readable when there may be more; for a plain file that is a watch on it, or
  // -1 where the machine has no watches left.
  int poll_fd() const;

 private:
  KernelLog() = default;
  More read_device(std::size_t limit, std::vector<KernelRecord>& records);
  More read_plain(std::size_t limit, std::vector<KernelRecord>& records);
  bool reopen_if_replaced();
  void take(std::string_view record, std::vector<KernelRecord>& records);

  std::string path_;
  bool is_plain_ = false;
  bool is_polled_ = true;  // false: a device that would be readable for ever
  base::UniqueFd fd_;
  base::UniqueFd watch_;  // inotify, for a plain file only
  std::vector<char> buffer_;
  std::string rest_;  // of a plain file: the last line, which has no end yet
  std::uint64_t offset_ = 0;
  std::optional<std::uint64_t> last_sequence_;
  std::uint64_t lost_ = 0;
  std::uint64_t malformed_ = 0;
};

}  // namespace everywatt::host
