// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace everywatt::exporter {

// The bodies of requests of Prometheus' remote write 1.0: a WriteRequest as protobuf, compressed as
// one block of snappy. Pure.

// What a series ends with: a NaN of its own, which no reading can be. Kept as bits, for a NaN that
// goes through arithmetic may come out as another.
inline constexpr std::uint64_t kStaleBits = 0x7ff0'0000'0000'0002;

struct TimedValue {
  std::int64_t time_ms = 0;  // since 1970
  std::uint64_t bits = 0;    // of a double

  static TimedValue of(std::int64_t time_ms, double value) {
    return {.time_ms = time_ms, .bits = std::bit_cast<std::uint64_t>(value)};
  }
  static TimedValue stale(std::int64_t time_ms) { return {.time_ms = time_ms, .bits = kStaleBits}; }
  bool operator==(const TimedValue&) const = default;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

// The labels of a series that an Exposition names `series`, and those of `more` whose names it has
// not: by name in order of bytes, the metric's name as __name__, none that is empty, as the
// protobuf messages that a TimeSeries begins with.
std::string encode_labels(std::string_view series, const Labels& more);

// Series with their samples, as long as one likes. Reused after each finish().
class WriteRequest {
 public:
  // `labels` come from encode_labels(). REQUIRES: the samples are in order of time, and the series'
  // earlier ones in this request are older.
  void add(std::string_view labels, std::span<const TimedValue> samples);

  std::size_t samples() const { return samples_; }
  std::size_t bytes() const { return message_.size(); }  // before they are compressed

  // The body; nothing of it is left in here.
  std::string finish();

 private:
  std::string message_;
  std::string series_;
  std::size_t samples_ = 0;
};

struct Body {
  std::string bytes;
  std::size_t samples = 0;
};

// Of a body the samples [first, first + count), counted in their order in it, for a receiver to
// which all of it is too large. Nothing: there are none, or it is none of ours.
std::optional<Body> slice_body(std::string_view body, std::size_t first, std::size_t count);

}  // namespace everywatt::exporter
