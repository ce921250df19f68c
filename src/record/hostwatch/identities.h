// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "catalog/row.h"
#include "device/host/command.h"
#include "device/host/root.h"
#include "record/recorder/writer.h"

namespace everywatt::hostwatch {

// Captures who a process is at its first sight, before it can end and its pid be used again, and
// keeps that in the file `identities`.
class Identities {
 public:
  struct Options {
    host::Root root;
    host::CommandStyle command = host::CommandStyle::kName;
    std::vector<std::string> labels;
    std::string boot_id;
  };
  static base::Result<Identities> open(Options options, recorder::File& identities);

  struct Sight {
    std::uint64_t key = 0;
    std::uint64_t start_ticks = 0;
    // True when an earlier process of ours had written its row: it was there before we started.
    bool is_from_before = false;
  };
  // The key of the process that has `pid` now; its row is written at first sight. kNotFound: there
  // is no such process. Other codes: its folder cannot be read.
  base::Result<Sight> capture(std::uint32_t pid, std::int64_t now_ns, std::int64_t wall_ns);

  // Writes the row of a process that runs on again once the ring has moved half of the way round
  // since its last one. So the rows of all that live are in the file.
  void keep(std::uint64_t key);

 private:
  Identities(Options options, recorder::Writer writer);
  // What becomes of a capture in which a file could not be read.
  enum class Failures { kRefused, kTaken };
  // kUnavailable: while it was looked at, its number went to another process, or failures are
  // refused and there was one.
  base::Result<Sight> try_capture(std::uint32_t pid, std::int64_t now_ns, std::int64_t wall_ns,
                                  Failures failures);
  base::Result<std::string> read(const std::string& file, std::size_t limit_bytes = 65536);
  void remember_earlier(recorder::File& identities);
  bool is_still(std::uint32_t pid, std::uint64_t start_ticks) const;
  void fill(std::uint32_t pid, std::string_view stat_line, catalog::Row& row);
  void fill_groups(std::uint32_t pid, catalog::Row& row);

  struct Written {
    catalog::Row row;
    std::uint64_t sequence = 0;
  };
  Options options_;
  recorder::Writer writer_;
  bool has_failed_ = false;                    // a file that fill() read
  std::unordered_set<std::uint64_t> earlier_;  // keys that were in the file at start
  std::map<std::uint64_t, Written> written_;   // those of which keep() may be asked
};

}  // namespace everywatt::hostwatch
