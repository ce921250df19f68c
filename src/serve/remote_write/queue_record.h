// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What a queue's files are made of. Pure.
//
// A queue is a line of samples, counted from its beginning for ever: a record holds the samples
// [first, first + samples) as the body of a request, ready to be sent. So a gap between two records
// says how many samples are missing, whatever became of them. Records that were taken at one moment
// are a group, written at once. Little-endian; each record begins at a multiple of 8 bytes.
namespace everywatt::remote_write {

// When samples were taken: where to go on.
struct Moment {
  std::int64_t wall_ms = 0;  // since 1970; 0: never
  std::int64_t boot_ns = 0;  // the same as boottime
  std::uint64_t boot = 0;    // of which boot: a number made of its id

  bool is_never() const { return wall_ms == 0; }
  bool operator==(const Moment&) const = default;
};
// Within a boot as boottime says, for a wall clock may be stepped.
const Moment& later(const Moment& one, const Moment& other);

struct Record {
  std::uint64_t first = 0;
  std::uint32_t samples = 0;
  std::uint32_t group_after = 0;  // samples of its group in the records behind it
  std::uint32_t body_bytes = 0;
  std::uint32_t body_check = 0;  // CRC-32
  Moment moment = {};

  std::uint64_t end() const { return first + samples; }
};

inline constexpr std::size_t kRecordHeadBytes = 64;
// Lines of samples that we write end before. A damaged file may claim anything.
inline constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 62;
// No body of ours comes near.
inline constexpr std::uint32_t kMostBodyBytes = 16u << 20;

// Bytes that a record takes in the file.
std::size_t record_bytes(std::size_t body_bytes);

// Sets body_bytes and body_check.
void append_record(Record record, std::string_view body, std::string& bytes);

// A head at the beginning of the bytes; nothing: none, or a damaged one.
std::optional<Record> parse_head(std::string_view bytes);
bool is_intact(const Record& record, std::string_view body);

struct FoundRecord {
  std::size_t at = 0;
  Record record;

  std::size_t body_at() const { return at + kRecordHeadBytes; }
  std::size_t end_at() const { return at + record_bytes(record.body_bytes); }
};
// The first record at or behind `from` that is whole and intact.
std::optional<FoundRecord> find_record(std::string_view bytes, std::size_t from);

// How the file ends to which a queue was written last.
struct Tail {
  std::size_t keep_bytes = 0;  // what is behind them is to be cut off
  std::uint64_t end = 0;       // of the line of samples
  Moment moment = {};          // of the last group that counts; never: there is none
  bool is_damaged = false;     // something is cut off
};
// `begin`: where the file's samples begin; `settled`: what is before needs no sending any more. A
// group of this boot that is not whole, of which nothing was settled, is as if it had never been:
// its moment can be taken again. Of any other what is there counts, and what is not is a gap.
Tail read_tail(std::string_view bytes, std::uint64_t begin, std::uint64_t settled,
               std::uint64_t this_boot);

// What is settled, as one of two copies of it, of which the newer that is intact counts: while one
// is being written, the other is there.
struct Settled {
  std::uint64_t generation = 0;
  std::uint64_t end = 0;  // of the samples that need no sending any more
  Moment moment = {};     // of the last of them
};
inline constexpr std::size_t kSettledBytes = 64;
std::string format_settled(const Settled& settled);
// Of both copies, one behind the other.
std::optional<Settled> parse_settled(std::string_view bytes);

}  // namespace everywatt::remote_write
