// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "catalog/row.h"
#include "device/host/open_file.h"
#include "device/host/root.h"
#include "record/hostwatch/complaints.h"
#include "record/recorder/writer.h"

namespace everywatt::hostwatch {

// The machine as a whole: lane kHost each tick, lane kOnce at the first one.
class MachineWatch {
 public:
  static base::Result<MachineWatch> open(const host::Root& root, recorder::File& file);

  void tick(std::int64_t now_ns, Complaints& complaints);

  // Processes and threads that were made since boot, as of the last tick: while it stands still no
  // process has got a new child. Nothing: not known.
  std::optional<std::uint64_t> forks() const { return forks_; }

 private:
  MachineWatch(const host::Root& root, recorder::Writer rows, recorder::Writer identity);
  void read_cpu(Complaints& complaints);
  void read_memory(Complaints& complaints);
  void read_load(Complaints& complaints);
  void read_pressure(Complaints& complaints);
  void read_shared_memory(std::int64_t now_ns, Complaints& complaints);
  void write_identity(std::int64_t now_ns);

  host::Root root_;
  recorder::Writer rows_;
  recorder::Writer identity_;
  catalog::Row row_;
  host::OpenFile cpu_;
  host::OpenFile memory_;
  host::OpenFile load_;
  host::OpenFile uptime_;
  host::OpenFile open_files_;
  std::array<host::OpenFile, 3> pressure_;
  std::optional<std::uint64_t> forks_;
  std::optional<std::int64_t> slow_read_ns_;  // when what is read each 10 s was read
  std::int64_t next_identity_ns_ = 0;         // 0: never read yet
  unsigned identity_known_ = 0;               // how much of it the last row says
};

}  // namespace everywatt::hostwatch
