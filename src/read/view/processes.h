// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/view/device.h"
#include "read/view/view.h"

namespace everywatt::view {

// Who a process is, captured at its first sight. Any text may be empty: it had ended before anybody
// could look, or our rights did not reach it.
struct Identity {
  std::uint64_t key = 0;  // of pid and start: tells apart processes that got the same pid
  std::uint64_t pid = 0;
  std::uint64_t parent_pid = 0;
  std::optional<double> start_seconds;  // after the start of the machine
  std::optional<std::uint64_t> uid;
  std::string user;
  std::string command;
  std::string cgroup;
  std::string container;
  std::string runtime;
  std::string pod_uid;
  std::string slurm_job;
  std::string unit;
};

// A process and its children as the OS sees them. Rates are over its last two rows.
struct HostUse {
  std::int64_t time_ns = 0;
  std::uint64_t identity_key = 0;            // 0: the operating system does not find it
  char state = '?';                          // 'R', 'S', 'D', ...
  std::optional<double> cpu_cores;           // CPU seconds a second; 1: one core
  std::optional<double> children_cpu_cores;  // of all its children together
  std::optional<std::uint64_t> threads;
  std::optional<std::uint64_t> resident_bytes;
  std::optional<std::uint64_t> children;
  std::optional<std::uint64_t> children_resident_bytes;
  std::optional<double> read_bytes_per_second;  // its own and its children's
  std::optional<double> written_bytes_per_second;
};

struct Process {
  std::uint64_t pid = 0;
  std::uint64_t identity_key = 0;  // 0: not known yet
  std::uint64_t type_mask = 0;     // bit 0 compute, bit 1 graphics, bit 2 through MPS
  // Absent where the driver does not tell or took no sample: never 0 for that.
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> sm_ratio;
  std::optional<double> memory_controller_ratio;
  std::optional<double> encoder_ratio;
  std::optional<double> decoder_ratio;
  std::optional<Identity> identity;  // nothing: unknown, or the identities may not be read
  std::optional<HostUse> host;

  // "compute", "graphics", "compute+mps"; "?" when the driver did not say.
  std::string type() const;
};

// What runs on one GPU.
struct Listing {
  std::uint32_t slot = 0;
  std::int64_t time_ns = 0;        // 0: never listed, or stale: the processes are unknown then
  std::vector<Process> processes;  // by memory, most first
  // Used memory that belongs to no listed process: managed memory, other machines' pids, leftovers.
  // As of the listing, from the least that was used in the second before it, so that a process
  // which is growing does not show here. Nothing when a part of the sum is not known.
  std::optional<std::uint64_t> unattributed_bytes;

  bool is_known() const { return time_ns != 0; }
};

enum class Join : std::uint8_t {
  kDriverOnly,  // what the driver lists: cheap
  kAll,         // with identities and what the OS says
};

// The newest complete listing of the GPU at or before `time_ns` (0: now).
Listing list_processes(const View& view, std::uint32_t slot, Join join = Join::kAll,
                       std::int64_t time_ns = 0);

// The identity with this key.
std::optional<Identity> find_identity(const View& view, std::uint64_t key);
// The identity of `pid` that was the newest at `time_ns`.
std::optional<Identity> find_identity_of_pid(const View& view, std::uint64_t pid,
                                             std::int64_t time_ns);

}  // namespace everywatt::view
