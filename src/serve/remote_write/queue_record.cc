// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/queue_record.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace everywatt::remote_write {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kRecordMagic = 0x3164'7263'6572'7765;   // "ewrecrd1"
constexpr std::uint64_t kSettledMagic = 0x3164'6c74'7365'7765;  // "ewsetld1"

struct RecordHead {
  std::uint64_t magic = kRecordMagic;
  std::uint64_t first = 0;
  Moment moment = {};
  std::uint32_t samples = 0;
  std::uint32_t group_after = 0;
  std::uint32_t body_bytes = 0;
  std::uint32_t body_check = 0;
  std::uint32_t unused = 0;
  std::uint32_t check = 0;  // of all before it
};
static_assert(sizeof(RecordHead) == kRecordHeadBytes);

struct SettledCopy {
  std::uint64_t magic = kSettledMagic;
  Settled settled;
  std::uint64_t unused = 0;
  std::uint32_t unused_too = 0;
  std::uint32_t check = 0;  // of all before it
};
static_assert(sizeof(SettledCopy) == kSettledBytes);

std::uint32_t crc(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const unsigned char*>(bytes.data()),
                                            static_cast<unsigned>(bytes.size())));
}

template <typename Block>
std::uint32_t check_of(const Block& block) {
  return crc({reinterpret_cast<const char*>(&block), sizeof(block) - sizeof(block.check)});
}

template <typename Block>
std::optional<Block> read_block(std::string_view bytes, std::uint64_t magic) {
  Block block;
  if (bytes.size() < sizeof(block)) return std::nullopt;
  std::memcpy(static_cast<void*>(&block), bytes.data(), sizeof(block));
  if (block.magic != magic || block.check != check_of(block)) return std::nullopt;
  return block;
}

}  // namespace

const Moment& later(const Moment& one, const Moment& other) {
  if (one.boot == other.boot) return one.boot_ns < other.boot_ns ? other : one;
  return one.wall_ms < other.wall_ms ? other : one;
}

std::size_t record_bytes(std::size_t body_bytes) {
  return kRecordHeadBytes + (body_bytes + 7) / 8 * 8;
}

void append_record(Record record, std::string_view body, std::string& bytes) {
  CHECK(body.size() <= kMostBodyBytes);
  RecordHead head{.first = record.first,
                  .moment = record.moment,
                  .samples = record.samples,
                  .group_after = record.group_after,
                  .body_bytes = static_cast<std::uint32_t>(body.size()),
                  .body_check = crc(body)};
  head.check = check_of(head);
  bytes.append(reinterpret_cast<const char*>(&head), sizeof(head));
  bytes += body;
  bytes.append(record_bytes(body.size()) - kRecordHeadBytes - body.size(), '\0');
}

std::optional<Record> parse_head(std::string_view bytes) {
  const auto head = read_block<RecordHead>(bytes, kRecordMagic);
  if (!head || head->body_bytes > kMostBodyBytes) return std::nullopt;
  if (head->first > kMostSamples) return std::nullopt;
  return Record{.first = head->first,
                .samples = head->samples,
                .group_after = head->group_after,
                .body_bytes = head->body_bytes,
                .body_check = head->body_check,
                .moment = head->moment};
}

bool is_intact(const Record& record, std::string_view body) {
  return body.size() == record.body_bytes && crc(body) == record.body_check;
}

std::optional<FoundRecord> find_record(std::string_view bytes, std::size_t from) {
  for (std::size_t at = (from + 7) / 8 * 8; at + kRecordHeadBytes <= bytes.size(); at += 8) {
    const auto record = parse_head(bytes.substr(at));
    if (!record) continue;
    const std::string_view body = bytes.substr(at + kRecordHeadBytes, record->body_bytes);
    // The zeros behind a body say nothing: a file that ends in them is whole.
    if (is_intact(*record, body)) return FoundRecord{.at = at, .record = *record};
  }
  return std::nullopt;
}

Tail read_tail(std::string_view bytes, std::uint64_t begin, std::uint64_t settled,
               std::uint64_t this_boot) {
  Tail tail{.end = begin};
  Tail before_group = tail;  // as it was before the group that `last` is of
  std::optional<Record> last;
  for (auto found = find_record(bytes, 0); found; found = find_record(bytes, found->end_at())) {
    const Record& record = found->record;
    const bool is_same_group = last && last->moment == record.moment && last->group_after > 0;
    if (!is_same_group) before_group = tail;
    tail.keep_bytes = std::min(found->end_at(), bytes.size());
    tail.end = std::max(tail.end, record.end());
    tail.moment = record.moment;
    last = record;
  }
  // A record whose head alone is there says how many samples it had.
  const auto torn = parse_head(bytes.substr(tail.keep_bytes));
  const std::uint32_t missing = last ? last->group_after : 0;
  tail.is_damaged = tail.keep_bytes < bytes.size() || missing > 0;
  const bool is_of_a_group = missing > 0;
  const std::uint64_t group_first = is_of_a_group ? before_group.end : tail.end;
  const std::uint64_t boot = is_of_a_group ? last->moment.boot : torn ? torn->moment.boot : 0;
  if (boot == this_boot && settled <= group_first) {
    if (is_of_a_group)
      tail = {.keep_bytes = before_group.keep_bytes,
              .end = before_group.end,
              .moment = before_group.moment,
              .is_damaged = true};
    return tail;
  }
  if (torn && torn->first >= tail.end) {
    tail.end = torn->end() + torn->group_after;
    tail.moment = torn->moment;
  } else {
    tail.end += missing;
  }
  return tail;
}

std::string format_settled(const Settled& settled) {
  SettledCopy copy{.settled = settled};
  copy.check = check_of(copy);
  return {reinterpret_cast<const char*>(&copy), sizeof(copy)};
}

std::optional<Settled> parse_settled(std::string_view bytes) {
  std::optional<Settled> newest;
  for (std::size_t at = 0; at < 2 * kSettledBytes && at < bytes.size(); at += kSettledBytes) {
    const auto copy = read_block<SettledCopy>(bytes.substr(at), kSettledMagic);
    if (!copy || copy->settled.end > kMostSamples) continue;
    if (!newest || copy->settled.generation > newest->generation) newest = copy->settled;
  }
  return newest;
}

}  // namespace everywatt::remote_write
