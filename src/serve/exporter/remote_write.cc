// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/remote_write.h"

#include <snappy.h>

#include <algorithm>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace everywatt::exporter {
namespace {

// WriteRequest{timeseries = 1}, TimeSeries{labels = 1, samples = 2}, Label{name = 1, value = 2},
// Sample{value = 1, timestamp = 2}.
constexpr protozero::pbf_tag_type kTimeSeries = 1;
constexpr protozero::pbf_tag_type kLabels = 1;
constexpr protozero::pbf_tag_type kSamples = 2;
constexpr protozero::pbf_tag_type kName = 1;
constexpr protozero::pbf_tag_type kText = 2;
constexpr protozero::pbf_tag_type kNumber = 1;
constexpr protozero::pbf_tag_type kTime = 2;

// Takes NAME{a="b",...} apart. What is no series of an Exposition ends it early, and that is all.
class SeriesText {
 public:
  explicit SeriesText(std::string_view text) : rest_(text) {}

  std::string_view take_until(char end) {
    const std::size_t at = std::min(rest_.find(end), rest_.size());
    const std::string_view taken = rest_.substr(0, at);
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
    return taken;
  }
  // Up to the quote that ends it, and a comma behind that.
  std::string take_value() {
    std::string value;
    if (rest_.starts_with('"')) rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '"') {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '\\' && !rest_.empty()) {
        c = rest_.front() == 'n' ? '\n' : rest_.front();
        rest_.remove_prefix(1);
      }
      value += c;
    }
    rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
    if (rest_.starts_with(',')) rest_.remove_prefix(1);
    return value;
  }
  bool is_at_label() const { return !rest_.empty() && rest_.front() != '}'; }

 private:
  std::string_view rest_;
};

Labels parse_series(std::string_view series) {
  SeriesText text(series);
  Labels labels;
  labels.emplace_back("__name__", text.take_until('{'));
  while (text.is_at_label()) {
    std::string name(text.take_until('='));
    labels.emplace_back(std::move(name), text.take_value());
  }
  return labels;
}

void append_samples(protozero::pbf_writer& series, std::span<const TimedValue> samples) {
  for (const TimedValue& sample : samples) {
    protozero::pbf_writer message(series, kSamples);
    // A double on the wire is its bits.
    message.add_fixed64(kNumber, sample.bits);
    message.add_int64(kTime, sample.time_ms);
  }
}

std::string compress(std::string_view message) {
  std::string body;
  snappy::Compress(message.data(), message.size(), &body);
  return body;
}

// The samples [first, end) of the message; `seen` counts those of it that came by.
class Slice {
 public:
  Slice(std::size_t first, std::size_t end) : first_(first), end_(end) {}

  void add(protozero::data_view series) {
    std::string part;
    const std::size_t before = taken_;
    {
      protozero::pbf_writer writer(part);
      protozero::pbf_reader reader(series);
      while (reader.next()) {
        if (reader.tag() == kLabels) {
          writer.add_message(kLabels, reader.get_view());
        } else {
          add_sample(writer, reader.get_view());
        }
      }
    }
    if (taken_ > before) protozero::pbf_writer(message_).add_message(kTimeSeries, part);
  }
  Body finish() const { return {.bytes = compress(message_), .samples = taken_}; }

 private:
  void add_sample(protozero::pbf_writer& writer, protozero::data_view sample) {
    const std::size_t place = seen_++;
    if (place < first_ || place >= end_) return;
    writer.add_message(kSamples, sample);
    ++taken_;
  }

  std::size_t first_;
  std::size_t end_;
  std::size_t seen_ = 0;
  std::size_t taken_ = 0;
  std::string message_;
};

}  // namespace

std::string encode_labels(std::string_view series, const Labels& more) {
  Labels labels = parse_series(series);
  for (const auto& label : more) {
    const bool is_there = std::ranges::any_of(
        labels, [&label](const auto& other) { return other.first == label.first; });
    if (!is_there) labels.push_back(label);
  }
  std::erase_if(labels,
                [](const auto& label) { return label.first.empty() || label.second.empty(); });
  std::ranges::stable_sort(labels, {},
                           [](const auto& label) -> const std::string& { return label.first; });
  std::string encoded;
  protozero::pbf_writer writer(encoded);
  for (const auto& [name, value] : labels) {
    protozero::pbf_writer label(writer, kLabels);
    label.add_string(kName, name);
    label.add_string(kText, value);
  }
  return encoded;
}

void WriteRequest::add(std::string_view labels, std::span<const TimedValue> samples) {
  if (samples.empty()) return;
  series_.assign(labels);
  protozero::pbf_writer series(series_);
  append_samples(series, samples);
  protozero::pbf_writer(message_).add_message(kTimeSeries, series_);
  samples_ += samples.size();
}

std::string WriteRequest::finish() {
  std::string body = compress(message_);
  message_.clear();
  samples_ = 0;
  return body;
}

std::optional<Body> slice_body(std::string_view body, std::size_t first, std::size_t count) {
  // No body of ours comes near: a length that a damaged one claims is not to eat the memory.
  constexpr std::size_t kLongestMessage = std::size_t{64} << 20;
  std::size_t length = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &length)) return std::nullopt;
  if (length > kLongestMessage) return std::nullopt;
  std::string message;
  if (!snappy::Uncompress(body.data(), body.size(), &message)) return std::nullopt;
  try {
    Slice slice(first, first + count);
    protozero::pbf_reader request(message);
    while (request.next(kTimeSeries))
      slice.add(request.get_view());
    Body part = slice.finish();
    if (part.samples == 0) return std::nullopt;
    return part;
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
}

}  // namespace everywatt::exporter
