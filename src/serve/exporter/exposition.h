// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace everywatt::exporter {

// Writes families of samples as Prometheus text 0.0.4 behind what a string holds. The one place
// that knows the syntax: another format is another such class. Callers keep a family together and
// say each label set once.
class Exposition {
 public:
  explicit Exposition(std::string& text) : text_(text) {}

  // Samples that follow belong to this family; it is announced with its first sample, so that a
  // family without any leaves no trace. The views must outlive its samples.
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

 private:
  void end_labels();

  std::string& text_;
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
