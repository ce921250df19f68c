// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

// The words for what numbers mean, in the languages that people are spoken to in. Pure functions;
// texts are constants unless a std::string is returned.
namespace everywatt::catalog {

enum class Lang : std::uint8_t { kEn, kZh };

// A state in a word or two for a column ("timed out", "超时"), and as the sentence that tells a
// user why there is no value.
std::string_view state_word(State state, Lang lang);
std::string_view state_sentence(State state, Lang lang);

// Why a GPU's clocks are lower than they could be: a bit of gpu_clock_event_reasons_mask.
struct ClockEventReason {
  unsigned bit = 0;
  std::string_view slug;  // label value: "sw_power_cap"
  std::string_view dcgm;  // clock_event label of DCGM's exporter: "power_cap"
  std::string_view en;
  std::string_view zh;
};
std::span<const ClockEventReason> clock_event_reasons();
// Bits that the table does not know are "unknown_bit_N", and shown like any other.
std::string clock_event_slug(unsigned bit);
std::string clock_event_text(unsigned bit, Lang lang);
// Slugs of all bits set, lowest first; empty for 0.
std::vector<std::string> clock_event_slugs(std::uint64_t mask);
// For people: "power cap, hardware slowdown"; for 0 the word for none.
std::string format_clock_events(std::uint64_t mask, Lang lang);
// Bits that cost speed: all but gpu_idle and the two that a person or display has set.
bool is_throttling(std::uint64_t mask);
// The instance of gpu_clock_event_seconds_total that counts `bit`; those above share the last one.
unsigned clock_event_instance(unsigned bit);

// What a driver error code says, for the codes that are documented; a general phrase for others.
// Never says that a code is harmless: which ones need action is a doctor's question.
std::string_view xid_text(std::uint64_t code, Lang lang);
bool is_known_xid(std::uint64_t code);

// The value of `metric(id).instance_label` for one instance: a link or fan number, an XID, a
// location or lane name, a clock event slug, the upper bound of a band ("0.05", for power in watts
// the bound in tenths of the limit as histogram_bounds() has it, "+Inf" for the last).
std::string instance_name(MetricId id, unsigned instance);
// Upper bounds of the bands of a NAME_bucket metric (bands.h), in order. For
// gpu_power_sampled_watts_bucket they are shares of gpu_power_limit_max_watts and the band above
// the last has none. Empty for any other metric.
std::span<const double> histogram_bounds(MetricId id);

// A value for people, in the unit that suits its size: "678 W", "40.2 GiB", "97 %", "1.98 GHz",
// "12.4 GB/s", "37 °C", "20.7 ms", "P0". Not for machines: rounded to three or so digits.
std::string format_value(MetricId id, double value);

}  // namespace everywatt::catalog
