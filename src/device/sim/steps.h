// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace everywatt::sim {

// One reading over the time of a trace, kept as its changes only: 12 bytes a change, which is what
// makes eleven traces small. Immutable after the last append; safe to read from any thread.
class Steps {
 public:
  // REQUIRES: at_us does not fall.
  void append(std::uint32_t at_us, std::int64_t value) {
    if (!values_.empty() && values_.back() == value) return;
    at_us_.push_back(at_us);
    values_.push_back(value);
  }
  void finish() {
    at_us_.shrink_to_fit();
    values_.shrink_to_fit();
  }

  // The value that held at that time; before the first row, the first row's.
  std::int64_t at(std::int64_t trace_ns) const {
    const std::size_t after = changes_until(trace_ns);
    return values_.empty() ? 0 : values_[after == 0 ? 0 : after - 1];
  }
  // How much the value rose from `begin_ns` to just before `end_ns`.
  std::int64_t rise(std::int64_t begin_ns, std::int64_t end_ns) const {
    // Without overflow, whatever a trace holds.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(at(end_ns - 1)) -
                                     static_cast<std::uint64_t>(at(begin_ns)));
  }

  // The change that came last by then, counted from 1; 0 before any.
  std::size_t changes_until(std::int64_t trace_ns) const {
    return static_cast<std::size_t>(std::partition_point(at_us_.begin(), at_us_.end(),
                                                         [trace_ns](std::uint32_t us) {
                                                           return us * std::int64_t{1000} <=
                                                                  trace_ns;
                                                         }) -
                                    at_us_.begin());
  }
  std::size_t size() const { return values_.size(); }
  std::int64_t time_ns(std::size_t change) const { return at_us_[change] * std::int64_t{1000}; }
  std::int64_t value(std::size_t change) const { return values_[change]; }

 private:
  std::vector<std::uint32_t> at_us_;
  std::vector<std::int64_t> values_;
};

}  // namespace everywatt::sim
