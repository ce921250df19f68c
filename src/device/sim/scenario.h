// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/sim/column.h"
#include "device/sim/loop.h"

namespace everywatt::sim {

inline constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

// A stretch of played time.
struct Span {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t until_ns = kForever;

  bool holds(std::int64_t played_ns) const { return played_ns >= from_ns && played_ns < until_ns; }
};

// Which GPUs an entry is about; nothing: all.
using WhichGpu = std::optional<std::uint32_t>;

struct DeviceEntry {
  std::string trace;  // the stem of its files, relative names taken from the scenario's folder
  std::string profile = "h200";
  std::optional<Loop> loop = {};  // else loop_of() the trace's name
  std::string uuid = {};          // empty: made from the GPU's number
  // Real drivers leave rubbish in the slots of a process sample buffer that they did not fill; some
  // also report the buffer's size instead of the number filled.
  bool reports_buffer_size = false;
  // So many calls find the process list one longer than the call before said.
  std::uint32_t growing_lists = 0;
  Span present = {};  // outside of it there is no such GPU
};

// What a call that goes wrong leaves in its caller's variables, while it says that it worked.
enum class Garbage { kOnes, kZeros, kRandom, kNan, kHuge, kText };

// A call that goes wrong. The first entry that fits decides.
struct FaultEntry {
  std::string function;  // "*": every function of the device
  WhichGpu gpu = {};
  std::optional<unsigned> return_code = {};  // nothing: only the delay
  std::uint64_t times = std::numeric_limits<std::uint64_t>::max();
  std::int64_t delay_ns = 0;    // kForever: until the span ends
  bool signals_masked = false;  // the thread that waits takes no signal that can be kept from it
  bool crash = false;           // after the delay
  std::optional<Garbage> garbage = {};
  Span span = {};
};

// An event that a registered event set receives.
struct EventEntry {
  WhichGpu gpu = {};
  std::int64_t at_ns = 0;
  std::uint64_t type = 0;
  std::uint64_t number = 0;  // of the XID
  // Of an XID, for the kernel's line.
  std::uint32_t pid = 0;     // 0: the driver does not know
  std::string process = {};  // its name
  std::string detail = {};   // empty: what the driver says of this number
};

// From then on NVML counts the GPUs in this order.
struct OrderEntry {
  std::int64_t at_ns = 0;
  std::vector<std::uint32_t> gpus;  // all of them, by number
};

// A while in which the driver cannot be had.
struct LibraryEntry {
  bool absent = false;      // the file is not there
  bool mismatch = false;    // the file and the loaded driver differ in version
  bool not_loaded = false;  // the driver is not in the kernel
  Span span = {};
};

// The driver is loaded anew, in another version.
struct DriverEntry {
  std::int64_t from_ns = 0;
  std::string version;
};

// A line that the kernel logs.
struct KernelLineEntry {
  std::int64_t at_ns = 0;
  std::uint32_t priority = 3;  // 0 emergency ... 7 debug
  std::string text;
};

enum class LinkState { kUp, kDown, kUnknown };

// An NVLink, for a while. What an entry leaves out is what the entries before it say.
struct LinkEntry {
  WhichGpu gpu = {};
  std::optional<std::uint32_t> link = {};  // nothing: all links of the GPU
  std::optional<LinkState> state = {};
  std::optional<std::uint32_t> version = {};  // as the driver codes it
  std::string remote = {};                    // "gpu:1", "switch:0", "cpu"
  std::optional<std::uint64_t> errors_per_second = {};
  std::optional<std::uint64_t> bytes_per_second = {};          // sent
  std::optional<std::uint64_t> receive_bytes_per_second = {};  // else as many as are sent
  Span span = {};
};

// MIG mode, for a while, with these GPU instances; more than one may hold at a time.
struct MigEntry {
  WhichGpu gpu = {};
  std::vector<std::string> profiles = {};       // "3g.71gb"
  std::vector<unsigned> activity_percent = {};  // of each: how much of what the trace's GPU does
  bool announced = true;                        // by an event of the driver's
  Span span = {};
  unsigned line = 0;  // of the file
};

struct MigProfile;

// One instance of a GPU, as mig_layout.h lays it out.
struct MigInstance {
  std::uint32_t gpu = 0;
  unsigned number = 0;  // within its GPU, in the file's order
  const MigProfile* profile = nullptr;
  unsigned first_slice = 0;  // of the memory
  unsigned gpu_instance_id = 0;
  std::string uuid = {};
  double activity = 0;
  Span span = {};
};

// A reading that is not the trace's: sentinels, errors, states.
struct OverrideEntry {
  WhichGpu gpu = {};
  Column column = Column::kUtilGpu;
  std::int64_t value = 0;
  std::int64_t per_second = 0;  // grows by that much a played second from the span's begin
  Span span = {};
};

enum class ProcessKind { kCompute, kGraphics, kMps };

// A process beside the trace's own.
struct ProcessEntry {
  WhichGpu gpu = {};
  ProcessKind kind = ProcessKind::kCompute;
  std::uint32_t pid = 0;
  std::uint64_t memory_bytes = 0;  // all ones: the driver cannot tell
  std::int32_t sm_percent = -1;
  std::optional<unsigned> mig = {};  // the instance's number; nothing: with the trace's own
  Span span = {};
  // What the host's files say of it.
  std::string command = "python3 train.py";
  std::uint32_t uid = 1000;
  std::string cgroup = "/user.slice";
  bool out_of_memory = false;  // at its end the kernel kills it for want of memory
};

// What a simulation plays. docs/scenarios.md describes the file.
struct Scenario {
  std::string playhead;  // empty: none, in real time from the library's start
  std::string driver_version = "580.159.04";
  std::string nvml_version = "13.580.159.04";
  int cuda_version = 13000;
  std::vector<DeviceEntry> devices;
  std::vector<FaultEntry> faults;
  std::vector<EventEntry> events;
  std::vector<OverrideEntry> overrides;
  std::vector<ProcessEntry> processes;
  std::vector<OrderEntry> orders;
  std::vector<LibraryEntry> libraries;
  std::vector<DriverEntry> drivers;
  std::vector<KernelLineEntry> kernel_lines;
  std::vector<LinkEntry> links;
  std::vector<MigEntry> migs;
  std::vector<MigInstance> mig_instances;  // laid out from them
};

// `folder` is what relative file names are relative to; `name` stands in messages. kInvalidArgument
// names the line.
base::Result<Scenario> parse_scenario(std::string_view text, const std::string& folder,
                                      const std::string& name);

// `path`: a scenario file, or a folder that holds one as "scenario.toml".
base::Result<Scenario> read_scenario(const std::string& path);

// The scenario file that plays these devices, without faults.
std::string format_scenario(const Scenario& scenario);

}  // namespace everywatt::sim
