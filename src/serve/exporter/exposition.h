// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace everywatt::exporter {

enum class Format : std::uint8_t {
  kText,         // Prometheus text 0.0.4
  kOpenMetrics,  // OpenMetrics 1.0
};

// Takes samples in place of their text.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  // `series` as the text names it: `NAME{label="value",...}`, or NAME alone. Valid for the call.
  virtual void take(std::string_view series, double value) = 0;
};

// Writes families of samples behind what a string holds, or gives them to a sink. The one place
// that knows the syntax. Callers keep a family together and say each label set once.
class Exposition {
 public:
  explicit Exposition(std::string& text, Format format = Format::kText)
      : text_(text), format_(format) {}
  explicit Exposition(SampleSink& sink) : text_(series_), sink_(&sink) {}
  Exposition(const Exposition&) = delete;
  Exposition& operator=(const Exposition&) = delete;

  // Families that are written; the rest leaves no trace. Empty: all. A name may end in '*'. Must
  // outlive this.
  void set_filter(std::span<const std::string> names) { filter_ = names; }

  // Samples that follow belong to this family; it is announced with its first sample, so that a
  // family without any leaves no trace. `type` is gauge, counter, histogram or info, and the name
  // is that of its samples (..._total, ..._info). The views must outlive its samples.
  void begin_family(std::string_view name, std::string_view type, std::string_view help);

  // Opens the sample NAME + suffix of the family. Labels are added in order, then one value ends
  // it.
  Exposition& sample(std::string_view suffix = {});
  // Labels as they are written: `gpu="0",uuid="GPU-..."`; nothing for an empty one.
  Exposition& labels(std::string_view ready);
  // Escapes and cleans the value.
  Exposition& label(std::string_view name, std::string_view value);
  void value(double value);  // REQUIRES: finite
  void value(std::uint64_t value);
  // Text that is a number already.
  void number(std::string_view text);
  // A remark for people, where the format has room for one. One line.
  void remark(std::string_view text);
  // Ends the last family and, where the format has an end, the text.
  void end();

 private:
  void announce();
  void announce_openmetrics();
  void drop_unwanted();
  void end_labels();
  void give(double value);

  std::string series_;  // for a sink: the sample that is open
  std::string& text_;
  SampleSink* sink_ = nullptr;
  Format format_ = Format::kText;
  std::span<const std::string> filter_;
  std::size_t family_begin_ = 0;
  bool is_unwanted_ = false;
  std::string_view name_;
  std::string_view type_;
  std::string_view help_;
  bool is_announced_ = false;
  bool has_labels_ = false;
};

// `name="value"`, with the value cut at 256 bytes, valid UTF-8, without control characters,
// escaped: text that a workload controls cannot open another label, sample or family.
std::string format_label(std::string_view name, std::string_view value);
// Joins two pieces of ready labels.
std::string join_labels(std::string_view left, std::string_view right);

}  // namespace everywatt::exporter
