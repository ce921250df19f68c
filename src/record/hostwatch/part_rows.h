// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "catalog/row.h"
#include "device/host/memory_map.h"
#include "device/host/open_file.h"
#include "device/host/root.h"
#include "record/hostwatch/complaints.h"
#include "record/recorder/writer.h"

namespace everywatt::hostwatch {

// What Everywatt's own processes cost: lane kPart, by the pids in the recorder's header. They are
// processes of this machine whatever root the rest is read from. Memory by shares (smaps) is dear
// and read each 10 s, one part a tick.
class PartRows {
 public:
  static base::Result<PartRows> open(recorder::File& recorder, recorder::File& identities);

  void tick(std::int64_t now_ns, Complaints& complaints);

 private:
  struct Watched {
    std::uint32_t pid = 0;
    host::OpenFile line;
    host::OpenFile status;
    host::OpenFile smaps;
  };
  PartRows(recorder::File& file, std::vector<recorder::Writer> writers,
           std::vector<host::FileNumber> files);
  void fill(Watched& watched, Complaints& complaints);
  void fill_shares(Watched& watched, Complaints& complaints);

  recorder::File& file_;
  host::Root root_;
  std::vector<recorder::Writer> writers_;  // by Part
  std::vector<host::FileNumber> files_;    // the two recorder files
  std::array<std::optional<Watched>, recorder::kPartCount> watched_;
  catalog::Row row_;
  std::uint64_t ticks_ = 0;
};

}  // namespace everywatt::hostwatch
