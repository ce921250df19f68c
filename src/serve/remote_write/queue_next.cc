// SPDX-License-Identifier: Apache-2.0
//
// How a queue is read: a cursor walks over the records from the oldest file on.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "serve/remote_write/queue.h"

namespace everywatt::remote_write {
namespace {

// A disk that fails for a while is not a damaged one.
constexpr unsigned kErrorsToGiveUp = 8;
constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;

std::unexpected<base::Error> too_short() {
  return base::fail(base::Code::kIo, "a file of the queue is shorter than what was written to it");
}

// Fewer bytes than asked for where the file of `size` bytes ends.
base::Result<std::string> read_at(int fd, std::uint64_t size, std::uint64_t at, std::size_t bytes) {
  bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, size - std::min(size, at)));
  std::string text(bytes, '\0');
  std::size_t used = 0;
  while (used < bytes) {
    const ssize_t got =
        ::pread(fd, text.data() + used, bytes - used, static_cast<off_t>(at + used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno("read", "the queue");
    if (got == 0) return too_short();
    used += static_cast<std::size_t>(got);
  }
  return text;
}

}  // namespace

base::Result<std::optional<Queue::Item>> Queue::next() {
  auto item = read_at_cursor();
  if (item) {
    errors_in_a_row_ = 0;
    return item;
  }
  if (++errors_in_a_row_ < kErrorsToGiveUp) return item;
  errors_in_a_row_ = 0;
  ++damaged_places_;
  if (const Segment* segment = find_cursor()) pass_to_segment_after(*segment);
  return item;
}

base::Result<std::optional<Queue::Item>> Queue::read_at_cursor() {
  while (settled_.end < end_) {
    const Segment* segment = find_cursor();
    if (segment == nullptr || cursor_at_ >= segment->bytes) {
      const bool is_last = segment == nullptr || segment == &segments_.back();
      if (is_last) {
        // Samples that were written, and of which nothing is there.
        pass_damaged_samples(end_);
        return std::nullopt;
      }
      pass_to_segment_after(*segment);
      continue;
    }
    if (auto opened = open_cursor(*segment); !opened) return std::unexpected(opened.error());
    const auto head = read_at(cursor_file_.get(), segment->bytes, cursor_at_, kRecordHeadBytes);
    if (!head) return std::unexpected(head.error());
    const auto record = parse_head(*head);
    // What claims to be behind the end was not written by us.
    if (!record || record->end() > end_) {
      if (auto skipped = skip_damage(*segment); !skipped) return std::unexpected(skipped.error());
      continue;
    }
    if (record->end() <= settled_.end) {
      cursor_at_ += record_bytes(record->body_bytes);
      continue;
    }
    auto body = read_at(cursor_file_.get(), segment->bytes, cursor_at_ + kRecordHeadBytes,
                        record->body_bytes);
    if (!body) return std::unexpected(body.error());
    if (!is_intact(*record, *body)) {
      if (auto skipped = skip_damage(*segment); !skipped) return std::unexpected(skipped.error());
      continue;
    }
    if (record->first > settled_.end) pass_damaged_samples(record->first);
    return Item{.record = *record, .from = settled_.end, .body = std::move(*body)};
  }
  return std::nullopt;
}

// The segment that the cursor is in; the oldest when that one is gone.
const Queue::Segment* Queue::find_cursor() {
  if (segments_.empty()) return nullptr;
  const auto found = std::ranges::find(segments_, cursor_begin_, &Segment::begin);
  if (found != segments_.end()) return &*found;
  cursor_file_.reset();
  cursor_begin_ = segments_.front().begin;
  cursor_at_ = 0;
  return &segments_.front();
}

base::Status Queue::open_cursor(const Segment& segment) {
  if (cursor_file_.is_open()) return {};
  const std::string path = path_of(segment);
  cursor_file_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));
  if (!cursor_file_.is_open()) return base::fail_errno("open", path);
  return {};
}

// From a place that says nothing to the next that does, in this file.
base::Status Queue::skip_damage(const Segment& segment) {
  const auto bytes = base::read_file(path_of(segment), kMostFileBytes);
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->size() < segment.bytes) return too_short();
  ++damaged_places_;
  auto found = find_record(*bytes, cursor_at_ + 1);
  while (found && found->record.end() > end_)
    found = find_record(*bytes, found->at + 1);
  cursor_at_ = found ? found->at : segment.bytes;
  return {};
}

void Queue::pass_to_segment_after(const Segment& segment) {
  cursor_at_ = segment.bytes;
  const auto place = std::ranges::find(segments_, segment.begin, &Segment::begin);
  if (place == segments_.end() || place + 1 == segments_.end()) return;
  cursor_file_.reset();
  cursor_begin_ = (place + 1)->begin;
  cursor_at_ = 0;
}

void Queue::pass_damaged_samples(std::uint64_t until) {
  if (until <= settled_.end) return;
  damaged_samples_ += until - settled_.end;
  settled_.end = until;
  write_settled(settled_.moment);
  remove_settled();
}

}  // namespace everywatt::remote_write
