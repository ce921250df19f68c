// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "catalog/row.h"
#include "device/host/open_file.h"
#include "device/host/root.h"
#include "record/hostwatch/group_limits.h"
#include "record/hostwatch/tree_use.h"

namespace everywatt::hostwatch {

// One GPU process and the processes below it, from its first sight to its end. Files stay open, so
// it never takes another process for its own when a pid is used again. Cost a tick: two reads for
// it and for each child; a walk over its threads when processes were made; limits and /dev/shm each
// 10 s.
class ProcessWatch {
 public:
  ProcessWatch(const host::Root& root, std::uint32_t pid, std::uint64_t start_ticks);

  struct Tick {
    std::int64_t now_ns = 0;
    std::optional<std::uint64_t> forks;  // MachineWatch::forks()
    GroupLimits& limits;
  };
  // Fills the cells of lane kHostProcess that this process decides. False: it has ended.
  bool read(const Tick& tick, catalog::Row& row);

  std::uint32_t pid() const { return pid_; }
  std::uint64_t start_ticks() const { return start_ticks_; }
  // Readable by poll() once it has ended; -1 where the kernel cannot say.
  int end_fd() const { return end_.get(); }
  // True when `pid` is one of those below it.
  bool has_child(std::uint32_t pid) const;

 private:
  struct Child {
    std::uint32_t pid = 0;
    std::uint64_t start_ticks = 0;
    host::OpenFile line;
    host::OpenFile io;
    // As it was last read.
    ProcessUse use;
    std::uint64_t threads = 0;
    std::uint64_t resident_bytes = 0;
  };
  struct ChildrenSum {
    std::uint64_t count = 0;
    std::uint64_t threads = 0;
    std::uint64_t resident_bytes = 0;
  };
  void find_children(std::int64_t now_ns, std::optional<std::uint64_t> forks);
  ChildrenSum read_children(std::vector<ProcessUse>& uses);
  static void read_io(host::OpenFile& io, ProcessUse& use, catalog::State& state);
  void read_slow(std::int64_t now_ns, catalog::Row& row);
  void read_limits(GroupLimits& limits, catalog::Row& row);
  void read_shared_memory(catalog::Row& row);
  void put_use(catalog::State io_state, catalog::Row& row) const;

  host::Root root_;
  std::uint32_t pid_;
  std::uint64_t start_ticks_;
  base::UniqueFd end_;
  host::OpenFile line_;
  host::OpenFile io_;
  std::vector<Child> children_;
  TreeUse use_;
  std::vector<ProcessUse> child_uses_;
  std::string groups_;  // the text of /proc/PID/cgroup
  std::optional<std::uint64_t> forks_;
  std::optional<std::int64_t> children_found_ns_;
  std::optional<std::int64_t> slow_read_ns_;
};

}  // namespace everywatt::hostwatch
