// SPDX-License-Identifier: Apache-2.0
#include "device/sim/loop.h"

#include <algorithm>

namespace everywatt::sim {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStart = 10 * kSecond;

struct KnownLoop {
  std::string_view name;
  std::int64_t begin_ms;
  std::int64_t end_ms;
};

// traces/README.md has the same table with the reasons.
constexpr KnownLoop kKnownLoops[] = {
    {"input_bound", 20'000, 51'000},  {"fed", 20'000, 51'000},
    {"synthetic", 18'000, 36'000},    {"gemm", 17'000, 33'000},
    {"oom_ramp", 10'000, 34'900},     {"mem_leak", 13'000, 41'000},
    {"launch_bound", 15'000, 29'000}, {"pcie_bound", 15'000, 33'000},
    {"ckpt_stall", 18'000, 50'000},   {"bursty_inference", 18'000, 41'000},
    {"idle_holder", 14'000, 23'000}};

// Room for 64 processes and 60 workers in each of the 8 newest laps, below 1000 pids a GPU.
constexpr std::uint32_t kFirstPid = 10'000;
constexpr std::uint32_t kPidsPerGpu = 1'000;
constexpr std::uint32_t kProcesses = 64;
constexpr std::uint32_t kWorkers = 60;
constexpr std::uint32_t kLaps = 8;

std::uint32_t lap_slot(std::int64_t birth_lap) {
  return static_cast<std::uint32_t>(birth_lap % kLaps);
}

}  // namespace

Position position(const Loop& loop, std::int64_t played_ns) {
  const std::int64_t first_pass_ns = loop.end_ns - loop.start_ns;
  if (played_ns < first_pass_ns) {
    return {std::max<std::int64_t>(0, loop.start_ns + played_ns), 0};
  }
  const std::int64_t looped_ns = played_ns - first_pass_ns;
  return {loop.begin_ns + looped_ns % loop.lap_ns(), 1 + looped_ns / loop.lap_ns()};
}

std::int64_t played_at(const Loop& loop, Position position) {
  if (position.lap == 0) return position.trace_ns - loop.start_ns;
  return loop.end_ns - loop.start_ns + (position.lap - 1) * loop.lap_ns() +
         (position.trace_ns - loop.begin_ns);
}

Loop loop_of(std::string_view trace_name, std::int64_t last_ns) {
  for (const KnownLoop& known : kKnownLoops) {
    if (known.name == trace_name && known.end_ms * 1'000'000 <= last_ns) {
      return {kStart, known.begin_ms * 1'000'000, known.end_ms * 1'000'000};
    }
  }
  const std::int64_t start_ns = last_ns < 2 * kStart ? 0 : kStart;
  return {start_ns, start_ns, std::max<std::int64_t>(last_ns, start_ns + 1)};
}

std::uint32_t process_pid(std::uint32_t gpu, std::uint32_t ordinal, std::int64_t birth_lap) {
  return kFirstPid + gpu * kPidsPerGpu + lap_slot(birth_lap) * kProcesses + ordinal % kProcesses;
}

std::uint32_t worker_pid(std::uint32_t gpu, std::uint32_t worker, std::int64_t birth_lap) {
  return kFirstPid + gpu * kPidsPerGpu + kLaps * kProcesses + lap_slot(birth_lap) * kWorkers +
         worker % kWorkers;
}

}  // namespace everywatt::sim
