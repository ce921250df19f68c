// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/exporter/remote_write.h"

namespace everywatt::exporter {

// A reader of the two formats that shares nothing with what writes them.

inline std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80u) == 0) return value;
  }
  ADD_FAILURE() << "a varint without an end";
  return value;
}

inline std::uint64_t take_little_endian(std::string_view& bytes, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes.at(i))} << (8 * i);
  }
  bytes.remove_prefix(size);
  return value;
}

// One block of snappy, as its format description has it.
inline std::string unsnap(std::string_view bytes) {
  const std::uint64_t length = take_varint(bytes);
  std::string text;
  while (!bytes.empty()) {
    const unsigned tag = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if ((tag & 3u) == 0) {
      std::uint64_t size = tag >> 2;
      if (size >= 60) size = take_little_endian(bytes, size - 59);
      text.append(bytes.substr(0, size + 1));
      bytes.remove_prefix(size + 1);
      continue;
    }
    const bool is_short = (tag & 3u) == 1;
    const std::uint64_t size = is_short ? ((tag >> 2) & 7u) + 4u : (tag >> 2) + 1u;
    std::uint64_t back = is_short ? (tag >> 5) * std::uint64_t{256} : 0;
    back |= take_little_endian(bytes, is_short ? 1 : (tag & 3u) == 2 ? 2 : 4);
    for (std::uint64_t i = 0; i < size; ++i)
      text += text.at(text.size() - back);
  }
  EXPECT_EQ(text.size(), length);
  return text;
}

struct DecodedSeries {
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<TimedValue> samples;

  bool operator==(const DecodedSeries&) const = default;
};

inline std::string_view take_message(std::string_view& bytes) {
  const std::uint64_t size = take_varint(bytes);
  const std::string_view message = bytes.substr(0, size);
  EXPECT_EQ(message.size(), size);
  bytes.remove_prefix(message.size());
  return message;
}

inline TimedValue decode_sample(std::string_view bytes) {
  TimedValue sample;
  while (!bytes.empty()) {
    const std::uint64_t key = take_varint(bytes);
    if (key == (1 << 3 | 1)) {
      sample.bits = take_little_endian(bytes, 8);
    } else if (key == (2 << 3 | 0)) {
      sample.time_ms = static_cast<std::int64_t>(take_varint(bytes));
    } else {
      ADD_FAILURE() << "key " << key << " in a sample";
      break;
    }
  }
  return sample;
}

inline std::vector<DecodedSeries> decode(std::string_view body) {
  const std::string message = unsnap(body);
  std::vector<DecodedSeries> all;
  for (std::string_view rest = message; !rest.empty();) {
    EXPECT_EQ(take_varint(rest), 1u << 3 | 2u);
    DecodedSeries& series = all.emplace_back();
    for (std::string_view inner = take_message(rest); !inner.empty();) {
      const std::uint64_t key = take_varint(inner);
      std::string_view part = take_message(inner);
      if (key == (2 << 3 | 2)) {
        series.samples.push_back(decode_sample(part));
        continue;
      }
      EXPECT_EQ(key, 1u << 3 | 2u);
      EXPECT_EQ(take_varint(part), 1u << 3 | 2u);
      const std::string name(take_message(part));
      EXPECT_EQ(take_varint(part), 2u << 3 | 2u);
      series.labels.emplace_back(name, take_message(part));
    }
  }
  return all;
}

}  // namespace everywatt::exporter
