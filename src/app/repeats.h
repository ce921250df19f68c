// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

namespace everywatt::app {

// Keeps the log readable while the same goes wrong again and again: tells it at once, then at most
// once an hour with how often it was meanwhile. Pure.
class Repeats {
 public:
  // What to say of `line` now; nothing: it was said within the hour.
  std::optional<std::string> say(const std::string& line, std::int64_t now_ns) {
    const bool is_new = line != line_;
    if (!is_new && now_ns - said_ns_ < kHourNs) {
      ++unsaid_;
      return std::nullopt;
    }
    const std::string more = is_new || unsaid_ == 0
                                 ? std::string()
                                 : fmt::format(", {} times more since it was told", unsaid_ + 1);
    line_ = line;
    said_ns_ = now_ns;
    unsaid_ = 0;
    return line + more;
  }

 private:
  static constexpr std::int64_t kHourNs = 3'600'000'000'000;

  std::string line_;
  std::int64_t said_ns_ = 0;
  std::uint64_t unsaid_ = 0;
};

}  // namespace everywatt::app
