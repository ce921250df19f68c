// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "read/view/view.h"
#include "record/recorder/writer.h"

namespace everywatt::app {

struct RecordingOptions {
  std::string path;
  // How long it may go on: rings are as large as that needs; later rows replace the first.
  std::int64_t duration_ns = 0;
  bool with_identities = true;
};

// A copy of a recorder file that goes on: all rows that are there, and the new ones at each
// take_new(). Belongs to one thread.
class Recording {
 public:
  // Holds what `view` holds when it returns; the view must outlive it.
  static base::Result<std::unique_ptr<Recording>> open(const view::View& view,
                                                       const RecordingOptions& options);

  // Copies what has come since.
  base::Status take_new();
  // Says that nothing more comes.
  void close();

  std::uint64_t rows() const { return rows_; }
  // Rows that were overwritten before they could be copied.
  std::uint64_t lost_rows() const { return lost_rows_; }

 private:
  struct Ring {
    const recorder::Reader* from = nullptr;
    std::uint32_t number = 0;
    std::uint64_t next = 0;
    std::uint32_t device = 0;
    std::unique_ptr<recorder::Writer> writer;  // null until there is a row: then its pages exist
    std::unique_ptr<catalog::Row> row;
  };

  explicit Recording(const view::View& view) : view_(view) {}
  void add_rings(const recorder::Reader& from);
  base::Status take_ring(Ring& ring);
  void copy_devices();

  const view::View& view_;
  std::unique_ptr<recorder::File> file_;
  std::vector<Ring> rings_;
  std::uint64_t rows_ = 0;
  std::uint64_t lost_rows_ = 0;
};

}  // namespace everywatt::app
