// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/view/device.h"
#include "read/view/view.h"

namespace everywatt::view {

// Who a process is, captured at its first sight. Everything is optional: it may have ended before
// anybody could look, or our rights did not reach it.
struct Identity {
  std::uint64_t pid = 0;
  std::int64_t started_ns = 0;  // boottime; tells apart processes that got the same pid
  std::string user;
  std::string command;
  std::string container;
  std::string cgroup;
  std::string job;
  std::string pod;
};

// A process and its children as the OS sees them, over its last interval.
struct HostUse {
  std::int64_t time_ns = 0;
  std::optional<double> cpu_cores;           // CPU seconds a second; 1: one core
  std::optional<double> children_cpu_cores;  // of its children together
  std::optional<std::uint64_t> children;
  std::optional<std::uint64_t> threads;
  std::optional<std::uint64_t> rss_bytes;
  std::optional<double> read_bytes_per_second;
  std::optional<double> write_bytes_per_second;
  std::string state;  // "R", "S", "D", ...
};

struct Process {
  std::uint64_t pid = 0;
  std::string type;  // "compute", "graphics", "mps"
  // Absent where the driver does not tell (Windows, MIG, nothing sampled): never 0 for that.
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> sm_ratio, memory_ratio, encoder_ratio, decoder_ratio;
  std::optional<Identity> identity;
  std::optional<HostUse> host;
};

// What runs on one GPU.
struct Listing {
  std::uint32_t slot = 0;
  std::int64_t time_ns = 0;  // 0: never listed, or stale; `absent` says why
  catalog::State absent = catalog::State::kOk;
  std::vector<Process> processes;  // by memory, most first
  // Used memory that belongs to no listed process (managed memory, other pid namespaces,
  // leftovers); nothing when a part of the sum is not known.
  std::optional<std::uint64_t> unattributed_bytes;
};

// The newest complete listing of the GPU at or before `time_ns` (0: now).
Listing list_processes(const View& view, std::uint32_t slot, std::int64_t time_ns = 0);

// The identity of `pid` at `time_ns`: the newest one first seen at or before it.
std::optional<Identity> find_identity(const View& view, std::uint64_t pid, std::int64_t time_ns);

}  // namespace everywatt::view
