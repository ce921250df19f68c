// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

// Sums of what a source counts from an origin of its own (the load of the driver), made to go on
// when that origin moves.
namespace everywatt::sampler {

// A count of the driver's that starts again at 0 when the driver does. Pure.
class CountGrowth {
 public:
  // Where the next reading is counted from: what was last seen before this process started.
  void set_base(std::uint64_t count) { base_ = count; }
  // By how much it grew since the last reading. Two readings below the last mean a restart, since
  // which it grew to what it is now; one alone may be a driver's slip, and counts for nothing. The
  // first reading ever grows by nothing.
  std::uint64_t see(std::uint64_t count);

 private:
  std::optional<std::uint64_t> base_;
  bool has_fallen_ = false;
};

// The same for seconds and other sums that are not whole.
class SumGrowth {
 public:
  void set_base(double sum) { base_ = sum; }
  double see(double sum);

 private:
  std::optional<double> base_;
  bool has_fallen_ = false;
};

// Growth of the driver's energy counter. It restarts with the driver, and on some boards it jumps
// by what no board can draw: such a reading is left out, and counted from only if the next ones go
// on from there. Pure.
class EnergyGrowth {
 public:
  struct Step {
    double joules = 0;
    bool is_rejected = false;
  };
  void set_base(double joules, std::int64_t time_ns) { base_ = {joules, time_ns}; }
  // `power_max_watts`: what the board can draw at most; 0: not known.
  Step see(double joules, std::int64_t time_ns, double power_max_watts);

 private:
  struct Reading {
    double joules = 0;
    std::int64_t time_ns = 0;
  };
  std::optional<Reading> base_;
  std::optional<Reading> rejected_;
};

// Energy from power readings, each held until the next one. A pause longer than `longest_hold_ns`
// adds nothing: what happened in it was not seen. Pure.
class PowerIntegral {
 public:
  // The joules since the last reading.
  double see(double watts, std::int64_t time_ns, std::int64_t longest_hold_ns);

 private:
  double watts_ = 0;
  std::int64_t time_ns_ = 0;
};

}  // namespace everywatt::sampler
