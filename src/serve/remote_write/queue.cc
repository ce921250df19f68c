// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace everywatt::remote_write {
namespace {

constexpr std::string_view kSegmentSuffix = ".samples";
constexpr std::size_t kSegmentDigits = 20;
// Of a full queue one segment goes at a time: a small share of it. Large ones only cost the time to
// read the last one at the start.
constexpr std::uint64_t kSegmentsOfAQueue = 32;
constexpr std::uint64_t kSmallestSegmentBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kLargestSegmentBytes = std::uint64_t{4} << 20;
// A group may be larger than a segment, never as large as this.
constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;

std::optional<std::uint64_t> parse_segment_name(std::string_view name) {
  if (!name.ends_with(kSegmentSuffix)) return std::nullopt;
  name.remove_suffix(kSegmentSuffix.size());
  if (name.size() != kSegmentDigits) return std::nullopt;
  const auto begin = base::parse_u64(name);
  if (!begin || *begin > kMostSamples) return std::nullopt;
  return begin;
}

// errno tells.
bool write_all(int fd, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
    at += static_cast<std::uint64_t>(put);
  }
  return true;
}

std::uint64_t rounded_up(std::uint64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

}  // namespace

base::Result<std::unique_ptr<Queue>> Queue::open(QueueOptions options) {
  if (::mkdir(options.folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return base::fail_errno("make", options.folder);
  }
  std::unique_ptr<Queue> queue(new Queue(std::move(options)));
  if (auto taken = queue->take_lock(); !taken) return std::unexpected(taken.error());
  if (auto listed = queue->list_segments(); !listed) return std::unexpected(listed.error());
  if (auto recovered = queue->recover(); !recovered) return std::unexpected(recovered.error());
  return queue;
}

base::Status Queue::take_lock() {
  const std::string path = options_.folder + "/settled";
  settled_file_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!settled_file_.is_open()) return base::fail_errno("open", path);
  if (::flock(settled_file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return base::fail_errno("lock", path);
    return base::fail(base::Code::kUnavailable,
                      fmt::format("{} is another process's", options_.folder));
  }
  std::array<char, 2 * kSettledBytes> bytes;
  const ssize_t got = ::pread(settled_file_.get(), bytes.data(), bytes.size(), 0);
  if (got < 0) return base::fail_errno("read", path);
  if (const auto settled = parse_settled({bytes.data(), static_cast<std::size_t>(got)})) {
    settled_ = *settled;
  }
  return {};
}

base::Status Queue::list_segments() {
  std::error_code error;
  std::filesystem::directory_iterator files(options_.folder, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const auto begin = parse_segment_name(files->path().filename().string());
    if (!begin) continue;
    const std::uint64_t bytes = files->file_size(error);
    if (error) break;
    segments_.push_back({.begin = *begin, .bytes = bytes});
  }
  if (error) return base::fail_errno("read", options_.folder, error.value());
  std::ranges::sort(segments_, {}, &Segment::begin);
  return {};
}

base::Status Queue::recover() {
  end_ = settled_.end;
  last_moment_ = settled_.moment;
  if (segments_.empty()) return {};
  // Without word on what is settled all is sent again.
  if (settled_.generation == 0) settled_.end = segments_.front().begin;
  if (auto recovered = recover_last(); !recovered) return recovered;
  // Files that somebody removed.
  if (segments_.front().begin > settled_.end) pass_damaged_samples(segments_.front().begin);
  remove_settled();
  return {};
}

base::Status Queue::recover_last() {
  Segment& last = segments_.back();
  const std::string path = path_of(last);
  const auto bytes = base::read_file(path, kMostFileBytes);
  if (!bytes) return std::unexpected(bytes.error());
  // To cut it there would cost what could not be read.
  if (bytes->size() < last.bytes) return base::fail(base::Code::kIo, "cannot read all of " + path);
  const Tail tail = read_tail(*bytes, last.begin, settled_.end, options_.this_boot);
  active_.reset(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!active_.is_open()) return base::fail_errno("open", path);
  if (tail.keep_bytes < bytes->size() &&
      ::ftruncate(active_.get(), static_cast<off_t>(tail.keep_bytes)) != 0) {
    return base::fail_errno("cut", path);
  }
  last.bytes = tail.keep_bytes;
  if (tail.is_damaged) ++damaged_places_;
  end_ = std::max(tail.end, settled_.end);
  last_moment_ = later(settled_.moment, tail.moment);
  if (tail.moment.is_never() && segments_.size() > 1) {
    const Segment& before = segments_[segments_.size() - 2];
    if (const auto text = base::read_file(path_of(before), kMostFileBytes)) {
      // Whole as it was left, so that nothing of it is to be taken again.
      last_moment_ = later(last_moment_, read_tail(*text, before.begin, last.begin, 0).moment);
    }
  }
  return {};
}

std::string Queue::path_of(const Segment& segment) const {
  return fmt::format("{}/{:0{}}{}", options_.folder, segment.begin, kSegmentDigits, kSegmentSuffix);
}

std::uint64_t Queue::queued_bytes() const {
  return std::accumulate(
      segments_.begin(), segments_.end(), std::uint64_t{0},
      [](std::uint64_t sum, const Segment& segment) { return sum + segment.bytes; });
}

std::uint64_t Queue::segment_bytes() const {
  return std::clamp(options_.limit_bytes / kSegmentsOfAQueue, kSmallestSegmentBytes,
                    kLargestSegmentBytes);
}

base::Status Queue::append(std::span<const exporter::Body> bodies, const Moment& moment) {
  std::uint32_t after = 0;
  for (const exporter::Body& body : bodies)
    after += static_cast<std::uint32_t>(body.samples);
  Record record{.first = end_, .moment = moment};
  std::string bytes;
  for (const exporter::Body& body : bodies) {
    record.samples = static_cast<std::uint32_t>(body.samples);
    record.group_after = after -= record.samples;
    append_record(record, body.bytes, bytes);
    record.first = record.end();
  }
  if (auto room = make_room(bytes.size()); !room) return room;
  Segment& active = segments_.back();
  const std::uint64_t at = rounded_up(active.bytes);
  if (!write_all(active_.get(), bytes, at)) {
    auto error = base::fail_errno("write", path_of(active));
    // Half of a group is not to stay; where it does, nothing is written behind it.
    if (::ftruncate(active_.get(), static_cast<off_t>(active.bytes)) != 0) active_.reset();
    return error;
  }
  active.bytes = at + bytes.size();
  end_ = record.first;
  last_moment_ = moment;
  is_dirty_ = true;
  return {};
}

base::Status Queue::make_room(std::uint64_t bytes) {
  const bool is_full = !segments_.empty() && segments_.back().bytes > 0 &&
                       segments_.back().bytes + bytes > segment_bytes();
  if (!active_.is_open() || is_full) {
    if (auto started = start_segment(); !started) return started;
  }
  while (segments_.size() > 1 && queued_bytes() + bytes > options_.limit_bytes)
    drop_oldest();
  return {};
}

base::Status Queue::start_segment() {
  // A failure is that of a power cut that may come, and the next one makes up for it.
  [[maybe_unused]] const base::Status synced = sync();
  const Segment segment{.begin = end_};
  const std::string path = path_of(segment);
  base::UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return base::fail_errno("create", path);
  // One without a sample, of which the writing failed: it had this name.
  if (!segments_.empty() && segments_.back().begin == end_) segments_.pop_back();
  segments_.push_back(segment);
  active_ = std::move(file);
  // So that the name outlives a power cut, too; without it the samples are lost, and nothing else.
  const base::UniqueFd folder(
      ::open(options_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (folder.is_open()) (void)::fsync(folder.get());
  remove_settled();
  return {};
}

void Queue::drop_oldest() {
  const std::uint64_t end = segments_[1].begin;
  if (end > settled_.end) {
    dropped_samples_ += end - settled_.end;
    settled_.end = end;
    write_settled(settled_.moment);
  }
  remove_oldest();
}

// A file that stays after all is settled: it goes at the next start.
void Queue::remove_oldest() {
  (void)::unlink(path_of(segments_.front()).c_str());
  segments_.pop_front();
}

void Queue::remove_settled() {
  while (segments_.size() > 1 && segments_[1].begin <= settled_.end)
    remove_oldest();
}

void Queue::settle(const Item& item, std::uint64_t from, std::uint64_t to) {
  if (settled_.end > from) dropped_samples_ -= std::min(settled_.end, to) - from;
  settled_.end = std::max(settled_.end, to);
  write_settled(item.record.moment);
  remove_settled();
}

void Queue::write_settled(const Moment& moment) {
  settled_.moment = moment;
  ++settled_.generation;
  put_settled();
}

// Should it fail, sync() tries again; in between, a restart would send again what was settled last.
void Queue::put_settled() {
  is_settled_put_ = write_all(settled_file_.get(), format_settled(settled_),
                              settled_.generation % 2 * kSettledBytes);
  is_dirty_ = true;
}

base::Status Queue::sync() {
  if (!is_dirty_) return {};
  if (!is_settled_put_) put_settled();
  is_dirty_ = false;
  if (active_.is_open() && ::fdatasync(active_.get()) != 0) {
    return base::fail_errno("sync", options_.folder);
  }
  if (::fdatasync(settled_file_.get()) != 0) return base::fail_errno("sync", options_.folder);
  return {};
}

}  // namespace everywatt::remote_write
