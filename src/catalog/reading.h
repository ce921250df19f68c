// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace everywatt::catalog {

// Whether a reading is a number, and if not, why. Recorded like a value. The numbers are part of
// the recorder's format: never renumber. Zero is what an untouched cell holds.
enum class State : std::uint8_t {
  kNotRead = 0,       // not due in this row
  kOk = 1,            // the value is a true reading
  kNoNewValue = 2,    // the source did not move since the last one (shown as no_new_data)
  kNotSupported = 3,  // this GPU, driver or kernel does not offer it
  kNoPermission = 4,  // our rights do not reach it
  kLost = 5,          // the GPU is gone from the bus
  kTimedOut = 6,      // a driver call did not return in time
  kDrained = 7,       // let go of on request
  kInvalid = 8,       // the source gave something outside the physical range, or a sentinel
  kFailed = 9,        // the source reported an error
};
inline constexpr unsigned kStateCount = 10;

std::string_view state_name(State state);  // "ok", "not_read", "no_new_data", ...

// A value or the reason why there is none. `bits` holds f64, u64 or i64 as its metric's type says
// and is 0 unless the state is kOk.
struct Reading {
  State state = State::kNotRead;
  std::uint64_t bits = 0;

  static Reading of(double value) { return {State::kOk, std::bit_cast<std::uint64_t>(value)}; }
  static Reading of(std::uint64_t value) { return {State::kOk, value}; }
  static Reading of(std::int64_t value) {
    return {State::kOk, std::bit_cast<std::uint64_t>(value)};
  }
  static Reading absent(State why) { return {why, 0}; }

  bool is_ok() const { return state == State::kOk; }
  double f64() const { return std::bit_cast<double>(bits); }
  std::uint64_t u64() const { return bits; }
  std::int64_t i64() const { return std::bit_cast<std::int64_t>(bits); }

  friend bool operator==(const Reading&, const Reading&) = default;
};

}  // namespace everywatt::catalog
