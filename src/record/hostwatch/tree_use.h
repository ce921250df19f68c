// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace everywatt::hostwatch {

// What one process used since its start, as /proc tells it at one moment.
struct ProcessUse {
  std::uint64_t key = 0;  // pid and start, so that a pid used again is another process
  double cpu_seconds = 0;
  double ended_children_seconds = 0;  // of those that it waited for, and theirs
  // The kernel adds those of children that it waited for here. Nothing: no right to read them.
  std::optional<std::uint64_t> read_bytes;
  std::optional<std::uint64_t> written_bytes;
};

// What a process and all below it used, so that no sum ever falls: what children used stays when
// they end, and is not counted twice when their parent inherits it. Pure arithmetic.
class TreeUse {
 public:
  // The tree as it is now. REQUIRES: `main` has the same key each time.
  void advance(const ProcessUse& main, std::span<const ProcessUse> children);

  double main_cpu_seconds() const { return main_cpu_seconds_; }
  double children_cpu_seconds() const { return children_cpu_seconds_; }
  // Nothing until they could be read once.
  std::optional<std::uint64_t> main_read_bytes() const { return read_.main; }
  std::optional<std::uint64_t> main_written_bytes() const { return written_.main; }
  std::optional<std::uint64_t> children_read_bytes() const { return read_.children; }
  std::optional<std::uint64_t> children_written_bytes() const { return written_.children; }

 private:
  struct Bytes {
    std::optional<std::uint64_t> main;
    std::optional<std::uint64_t> children;
  };
  using Member = std::optional<std::uint64_t> ProcessUse::*;
  void advance_cpu(const ProcessUse& main, std::span<const ProcessUse> children);
  void advance_bytes(Bytes& bytes, Member member, const ProcessUse& main,
                     std::span<const ProcessUse> children);
  bool has_ended(std::uint64_t key, std::span<const ProcessUse> children) const;

  bool is_started_ = false;
  ProcessUse last_main_;
  std::map<std::uint64_t, ProcessUse> last_children_;
  double main_cpu_seconds_ = 0;
  double children_cpu_seconds_ = 0;
  Bytes read_;
  Bytes written_;
};

}  // namespace everywatt::hostwatch
