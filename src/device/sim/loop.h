// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace everywatt::sim {

// How a recorded trace becomes endless: it is played once from `start`, then the part from `begin`
// to `end` again and again. Times are nanoseconds of the trace's own clock. Invariant: 0 <= start <
// end and 0 <= begin < end.
struct Loop {
  std::int64_t start_ns = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  std::int64_t lap_ns() const { return end_ns - begin_ns; }
  friend bool operator==(const Loop&, const Loop&) = default;
};

// Where in the trace, and how often the loop's end was passed on the way there.
struct Position {
  std::int64_t trace_ns = 0;
  std::int64_t lap = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

// The one mapping from played time (0: the playhead's origin) to the trace, for the library and the
// player. Before the origin the trace goes on backwards to its first instant and stays there.
Position position(const Loop& loop, std::int64_t played_ns);

// The played time at which lap `lap` shows the instant `trace_ns` of the trace: the inverse of
// position().
std::int64_t played_at(const Loop& loop, Position position);

// The loops of the traces that come with the product; for other names, everything from 10 s on
// (from 0 where the trace is shorter than 20 s) to `last_ns`.
Loop loop_of(std::string_view trace_name, std::int64_t last_ns);

// The pid that process number `ordinal` (in order of first appearance in its trace) of GPU `gpu`
// has in the library and in the fake host root; distinct for up to 64 processes and 60 workers a
// GPU. `birth_lap` is the lap in which it started: a process that the loop ends and starts again is
// a new one.
std::uint32_t process_pid(std::uint32_t gpu, std::uint32_t ordinal, std::int64_t birth_lap);
std::uint32_t worker_pid(std::uint32_t gpu, std::uint32_t worker, std::int64_t birth_lap);

}  // namespace everywatt::sim
