// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/exporter/remote_write.h"
#include "serve/remote_write/queue_record.h"

namespace everywatt::remote_write {

struct QueueOptions {
  std::string folder;  // made where it is missing (0700); the one above it must be there
  std::uint64_t limit_bytes = std::uint64_t{256} << 20;
  std::uint64_t this_boot = 0;  // as in Moment
};

// The samples of one destination that wait for their receiver, in files that outlive the process:
// it may be killed at any instant. Full, it drops the oldest. One process and one thread at a time.
class Queue {
 public:
  // kUnavailable: another process has it.
  static base::Result<std::unique_ptr<Queue>> open(QueueOptions options);

  // All of one moment, or nothing of it: a failure leaves what is there as it was. The oldest goes
  // as far as needed.
  base::Status append(std::span<const exporter::Body> bodies, const Moment& moment);
  // Of the newest group, or of what was settled last: where to go on.
  const Moment& last_moment() const { return last_moment_; }

  struct Item {
    Record record;
    std::uint64_t from = 0;  // its first sample that is not settled
    std::string body;        // of the whole record
  };
  // The oldest record that is not settled wholly; nothing: none is left. The same again until
  // settle(). What is damaged is passed over and counted; what cannot be read now is an error, and
  // is given up only after several of them.
  base::Result<std::optional<Item>> next();
  // The samples [from, to) of the item need no sending any more. Also right when they were dropped
  // meanwhile: then they do not count as dropped after all.
  void settle(const Item& item, std::uint64_t from, std::uint64_t to);

  // Makes sure of what was written and settled so far, against a power cut.
  base::Status sync();

  // Not settled yet, with damaged ones that were not found out.
  std::uint64_t queued_samples() const { return end_ - settled_.end; }
  std::uint64_t queued_bytes() const;
  std::uint64_t dropped_samples() const { return dropped_samples_; }
  std::uint64_t damaged_samples() const { return damaged_samples_; }
  std::uint64_t damaged_places() const { return damaged_places_; }

 private:
  struct Segment {
    std::uint64_t begin = 0;  // in the line of samples; its name
    std::uint64_t bytes = 0;
  };

  explicit Queue(QueueOptions options) : options_(std::move(options)) {}
  base::Status take_lock();
  base::Status list_segments();
  base::Status recover();
  base::Status recover_last();
  std::string path_of(const Segment& segment) const;
  std::uint64_t segment_bytes() const;
  base::Status make_room(std::uint64_t bytes);
  base::Status start_segment();
  void drop_oldest();
  void remove_oldest();
  void remove_settled();
  void write_settled(const Moment& moment);
  void put_settled();

  // What next() is made of: queue_next.cc.
  base::Result<std::optional<Item>> read_at_cursor();
  const Segment* find_cursor();
  base::Status open_cursor(const Segment& segment);
  base::Status skip_damage(const Segment& segment);
  void pass_to_segment_after(const Segment& segment);
  void pass_damaged_samples(std::uint64_t until);

  QueueOptions options_;
  base::UniqueFd settled_file_;
  base::UniqueFd active_;         // the last segment, for writing; closed: a new one is needed
  std::deque<Segment> segments_;  // in order
  std::uint64_t end_ = 0;         // of the line of samples
  Settled settled_;
  Moment last_moment_;
  bool is_dirty_ = false;
  bool is_settled_put_ = true;

  base::UniqueFd cursor_file_;
  std::optional<std::uint64_t> cursor_begin_;  // of its segment; nothing: the oldest
  std::uint64_t cursor_at_ = 0;
  unsigned errors_in_a_row_ = 0;

  std::uint64_t dropped_samples_ = 0;
  std::uint64_t damaged_samples_ = 0;
  std::uint64_t damaged_places_ = 0;
};

}  // namespace everywatt::remote_write
