// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/row.h"
#include "record/hostwatch/complaints.h"
#include "record/hostwatch/event_writer.h"
#include "record/hostwatch/gpu_uses.h"
#include "record/hostwatch/group_limits.h"
#include "record/hostwatch/identities.h"
#include "record/hostwatch/process_watch.h"

namespace everywatt::hostwatch {

// The processes that use a GPU: lane kHostProcess, their identities, and events of their starts and
// ends on each GPU. A process that the driver names and that is not there gets a row with state X.
class ProcessRows {
 public:
  struct Options {
    host::Root root;
    unsigned max_processes = 64;  // more are read each `slow_period_ns` only
    std::int64_t slow_period_ns = 0;
  };
  static base::Result<ProcessRows> open(Options options, recorder::File& file,
                                        Identities identities, EventWriter& events);

  struct Moment {
    std::int64_t now_ns = 0;
    std::int64_t wall_ns = 0;
  };
  void tick(const Moment& moment, const std::vector<GpuUse>& uses,
            std::optional<std::uint64_t> forks, Complaints& complaints);

  // Tells the ends of processes that poll() has found at end_fds().
  void take_ends(const Moment& moment);
  void add_end_fds(std::vector<int>& fds) const;

  // The key of a process: one that is or was on a GPU, or whose child `pid` is.
  struct Owner {
    std::uint64_t key = 0;
    bool is_child = false;
  };
  std::optional<Owner> find_owner(std::uint32_t pid) const;
  // The same; a process that is not known yet is looked at and its identity written. A program that
  // dies of a fault may live too short to be listed.
  std::optional<std::uint64_t> look_at(std::uint32_t pid, const Moment& moment);

 private:
  struct OnGpu {
    std::uint32_t slot = 0;
    std::uint64_t peak_bytes = 0;
    bool is_listed = false;
  };
  struct Known {
    std::uint64_t key = 0;                             // 0: not found
    std::unique_ptr<ProcessWatch> watch;               // null: not found
    catalog::State reason = catalog::State::kNotRead;  // why not
    std::int64_t start_ns = 0;               // of the process; not found: when it was first missed
    std::optional<std::int64_t> missing_ns;  // since when it is not found
    std::int64_t next_read_ns = 0;
    std::uint64_t order = 0;  // of first sight
    std::vector<OnGpu> gpus;
    bool is_new = false;  // its starts are to be told
  };
  struct Ended {
    std::uint32_t pid = 0;
    std::uint64_t key = 0;
  };

  ProcessRows(Options options, recorder::Writer writer, Identities identities, EventWriter& events);
  Known* find_or_meet(std::uint32_t pid, const Moment& moment, Complaints& complaints);
  static bool is_in_doubt(const Known& known, const Moment& moment);
  void forget_unlisted(const Moment& moment);
  void match(const Moment& moment, const std::vector<GpuUse>& uses, Complaints& complaints);
  Known meet(std::uint32_t pid, const Moment& moment, Complaints& complaints);
  void tell_start(std::uint32_t pid, const Known& known, const OnGpu& gpu, const Moment& moment);
  void tell_end(std::uint32_t pid, const Known& known, const OnGpu& gpu, const Moment& moment,
                std::string_view how);
  void end(std::map<std::uint32_t, Known>::iterator it, const Moment& moment);
  void write_rows(const Moment& moment, std::optional<std::uint64_t> forks);
  bool fill_row(Known& known, const Moment& moment, std::optional<std::uint64_t> forks);
  void append_rows(std::int64_t now_ns);

  Options options_;
  recorder::Writer writer_;
  Identities identities_;
  EventWriter& events_;
  GroupLimits limits_;
  std::map<std::uint32_t, Known> known_;  // by pid
  std::vector<Ended> ended_;              // the last few, for faults that are told after the end
  std::vector<catalog::Row> rows_;
  std::size_t row_count_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace everywatt::hostwatch
