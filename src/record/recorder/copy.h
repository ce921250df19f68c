// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/recorder/reader.h"
#include "record/recorder/writer.h"

namespace everywatt::recorder {

struct CopyCount {
  std::uint64_t copied = 0;
  std::uint64_t lost = 0;     // overwritten before it was their turn
  std::uint64_t damaged = 0;  // their check word was wrong
};

// Copies every row that can still be read, with its times and states, the devices' slots and what
// the parts tell of themselves. The n-th slot of a scope becomes the n-th of that scope in `to`,
// an instance the n-th of its GPU; what has no slot or ring there is left out. Rings that are too
// small keep the newest rows. REQUIRES: nobody else writes to `to`, and its rings are empty.
base::Result<CopyCount> copy(const Reader& from, File& to);

// A file that keeps every row of another, for as long as it is asked to: `everywatt record`. A ring
// that is full is doubled, by a larger file under the same name. Belongs to one thread at a time.
class Recording {
 public:
  struct Options {
    std::string path;
    unsigned mode = 0644;
    Source source = Source::kRecording;
    // How many rows to begin with; 0: as many as the source's ring.
    Capacities capacity = {};
  };
  // Makes the file, still without rows. Fails as File::create.
  static base::Result<std::unique_ptr<Recording>> create(const Reader& from,
                                                         const Options& options);
  ~Recording();

  // Copies the rows since the last call; all at the first. `from` may be another file than before,
  // if the one was replaced by the other: it goes on behind the last row's time. Devices beyond
  // those that the first one had slots for are left out.
  // kInvalidArgument: `from` is of another boot, its times mean something else. kIo: no space for
  // it; what was copied until then is kept.
  base::Result<CopyCount> copy_new(const Reader& from);

  // Says that no rows will follow.
  void close(std::int64_t now_ns);

  const File& file() const { return *file_; }

 private:
  // One (slot, lane) of the file.
  struct Place {
    std::optional<Writer> writer = {};  // taken with the first row: rings without rows take no room
    std::uint64_t next = 0;             // sequence in the source
    std::int64_t last_time_ns = 0;
    bool has_rows = false;
  };

  Recording(Options options, std::unique_ptr<File> file);
  void turn_to(const Reader& from);
  Place& place(std::uint32_t slot, catalog::Lane lane);
  base::Status append(std::uint32_t slot, const catalog::Row& row);
  base::Status grow();

  Options options_;
  std::unique_ptr<File> file_;
  Origin source_;                                    // of the file that `next` counts in
  std::vector<std::optional<std::uint32_t>> slots_;  // by the source's slot
  std::vector<Place> places_;                        // by slot and lane
};

}  // namespace everywatt::recorder
