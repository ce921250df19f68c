// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "device/sim/return_names.h"
#include "device/sim/scenario.h"

// How the keys of a scenario's sections are read. Sections lie in files of their own
// (scenario_*.cc); scenario.cc has the table of them.
namespace everywatt::sim {

// Says what is wrong with a value; the caller adds file and line.
using Problem = std::optional<std::string>;
using Setter = std::function<Problem(std::string_view)>;
using Keys = std::map<std::string_view, Setter>;

// The section that is being read: what its keys set, in an entry of the scenario that was made for
// it, and which of them are still to come.
struct Section {
  Keys keys;
  std::vector<std::string_view> required;
  unsigned* line = nullptr;  // where to say on which line it began
};
using BeginSection = Section (*)(Scenario&);

Section begin_order(Scenario& scenario);
Section begin_library(Scenario& scenario);
Section begin_driver(Scenario& scenario);
Section begin_kernel_line(Scenario& scenario);
Section begin_nvlink(Scenario& scenario);
Section begin_mig(Scenario& scenario);

// What is wrong between the parts that these sections set, or nothing.
Problem check_machine(const Scenario& scenario);
Problem check_nvlinks(const Scenario& scenario);

template <typename T>
Setter whole(T& target, std::int64_t lowest = 0) {
  return [&target, lowest](std::string_view text) -> Problem {
    const std::optional<std::int64_t> number = base::parse_i64(text);
    if (!number || *number < lowest || !std::in_range<T>(*number))
      return "not a number in its range";
    target = static_cast<T>(*number);
    return std::nullopt;
  };
}

// Bits and sizes: also 0x..., also above 2^63.
Setter bits(std::uint64_t& target);
// From -30 to 30 years.
Setter milliseconds(std::int64_t& target_ns);
Setter text(std::string& target);
// A GPU's number or "all".
Setter which(WhichGpu& target);
Setter truth(bool& target);
// "*", or a function that the library has: a misspelt one would never go wrong.
Setter function(std::string& target);
Setter one_of(std::string& target, std::vector<std::string_view> choices);
// One of some words, each of which stands for a value.
template <typename T>
Setter word(T& target, std::vector<std::pair<std::string_view, T>> words) {
  return [&target, words = std::move(words)](std::string_view value) -> Problem {
    for (const auto& [name, meaning] : words) {
      if (name != value) continue;
      target = meaning;
      return std::nullopt;
    }
    return "no choice '" + std::string(value) + "'";
  };
}
void add_span(Keys& keys, Span& span);

std::optional<bool> parse_truth(std::string_view value);
inline constexpr const char* kNoTruth = "neither true nor false";

}  // namespace everywatt::sim
