// SPDX-License-Identifier: Apache-2.0
#include "device/sim/scenario_keys.h"

#include <algorithm>

#include "device/sim/calls.h"

namespace everywatt::sim {

Setter bits(std::uint64_t& target) {
  return [&target](std::string_view text) -> Problem {
    const std::optional<std::uint64_t> number =
        text.starts_with("0x") ? parse_hex(text.substr(2)) : base::parse_u64(text);
    if (!number) return "not a number";
    target = *number;
    return std::nullopt;
  };
}

Setter milliseconds(std::int64_t& target_ns) {
  return [&target_ns](std::string_view text) -> Problem {
    constexpr std::int64_t kNsPerMs = 1'000'000;
    const std::optional<double> ms = base::parse_f64(text);
    if (!ms || *ms < -1e12 || *ms > 1e12) return "not milliseconds";
    target_ns = static_cast<std::int64_t>(*ms * kNsPerMs);
    return std::nullopt;
  };
}

Setter text(std::string& target) {
  return [&target](std::string_view value) -> Problem {
    target = value;
    return std::nullopt;
  };
}

Setter which(WhichGpu& target) {
  return [&target](std::string_view value) -> Problem {
    if (value == "all") return std::nullopt;
    const std::optional<std::uint64_t> number = base::parse_u64(value);
    if (!number || *number > 1023) return "neither a GPU's number nor \"all\"";
    target = static_cast<std::uint32_t>(*number);
    return std::nullopt;
  };
}

std::optional<bool> parse_truth(std::string_view value) {
  if (value == "true") return true;
  if (value == "false") return false;
  return std::nullopt;
}

Setter truth(bool& target) {
  return [&target](std::string_view value) -> Problem {
    const std::optional<bool> known = parse_truth(value);
    if (!known) return kNoTruth;
    target = *known;
    return std::nullopt;
  };
}

Setter function(std::string& target) {
  return [&target](std::string_view value) -> Problem {
    if (value != "*" && !std::binary_search(kCalls.begin(), kCalls.end(), value)) {
      return "no function '" + std::string(value) + "'";
    }
    target = value;
    return std::nullopt;
  };
}

Setter one_of(std::string& target, std::vector<std::string_view> choices) {
  return [&target, choices = std::move(choices)](std::string_view value) -> Problem {
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
      return "no choice '" + std::string(value) + "'";
    }
    target = value;
    return std::nullopt;
  };
}

void add_span(Keys& keys, Span& span) {
  keys["from_ms"] = milliseconds(span.from_ns);
  keys["until_ms"] = milliseconds(span.until_ns);
}

}  // namespace everywatt::sim
