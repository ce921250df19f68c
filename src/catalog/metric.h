// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

// One row of the catalog. The rows themselves are in metrics_*.inc, one METRIC(name, ...) each;
// everything that Everywatt records, shows, exports or documents follows from them.
namespace everywatt::catalog {

// Base units only. kRatio is 0-1. kNone is for states, masks, identifiers and text.
enum class Unit : std::uint8_t {
  kNone,
  kRatio,
  kBytes,
  kBytesPerSecond,
  kWatts,
  kJoules,
  kCelsius,
  kHertz,
  kSeconds,
  kCount,
};

// How values of one metric relate over time.
enum class Kind : std::uint8_t {
  kGauge,    // a level; the mean over time makes sense
  kCounter,  // grows, and starts again at 0 only when its source restarts
  kState,    // one of a few numbers with meanings (performance state, mode)
  kMask,     // bits with meanings; combined by OR
  kConst,    // does not change while a device stays what it is
};

// What the 8 bytes of a cell are. Text takes several cells, zero-padded UTF-8.
enum class Type : std::uint8_t { kF64, kU64, kI64, kText };

// What kind of device a metric belongs to.
enum class Scope : std::uint8_t {
  kGpu,         // a GPU or a MIG instance (which lacks what only the whole GPU has)
  kNode,        // the machine
  kDisk,        // a block device
  kInterface,   // a network interface
  kInfiniband,  // an InfiniBand port
  kPart,        // one of Everywatt's own processes
};
inline constexpr unsigned kScopeCount = 6;

// A cadence group: what is read together, written as one row. One ring a (device, lane).
enum class Lane : std::uint8_t {
  kGauge,    // 100 ms: the cheap readings of a GPU
  kPower,    // the driver's power buffer: one row a sample of 20.7 ms
  kGpm,      // Hopper's performance counters: one row a window
  kProcess,  // one row a process of a GPU at each listing, or one row with count 0
  kSlow,     // 10 s: what is dear or changes seldom
  kOnce,     // identity and limits: a row at start and after any change
  kTotals,   // accumulators: the newest row is the truth, it never falls while the machine is up
  kFaults,   // accumulated XID counts by code: a row after each XID
  kHost,     // 1 s: the machine, its disks, its network
  kHostProcess,  // 1 s: the GPU processes and their children as the OS sees them
  kIdentity,     // a row for each process at its first sight (file `identities`)
  kEvent,        // a row an event
  kPart,         // 1 s: what Everywatt's processes cost, as the OS sees them
  kSampling,     // 1 s: how the sampler and the host process keep up, as they count it themselves
};
inline constexpr unsigned kLaneCount = 14;

// The physical range of a reading; outside it is `invalid`. Not the GPU's own limits: a 700 W GPU
// truly draws 942 W for moments.
struct Range {
  double low = std::numeric_limits<double>::lowest();
  double high = std::numeric_limits<double>::max();
};

struct Metric {
  std::string_view name;  // unique, snake_case, ends in its unit: gpu_power_watts
  Scope scope = Scope::kGpu;
  Lane lane = Lane::kGauge;
  Kind kind = Kind::kGauge;
  Type type = Type::kF64;
  Unit unit = Unit::kNone;
  // Cells side by side: one a link, fan, code, band or bit; the index is the value of the label
  // named `instance_label`. 1 for most metrics.
  std::uint16_t instances = 1;
  std::string_view instance_label = {};
  std::uint16_t text_cells = 0;  // kText: 8-byte cells for one text
  // How often the source refreshes and so how often it is read at most; 0: once a row of its lane.
  std::uint32_t period_ms = 0;
  Range range = {};
  double resolution = 0;  // differences below it are noise and need not be kept
  // Prometheus: the family, when several metrics share one, and the labels that tell them apart
  // ("error=\"corrected\",location=\"dram\""). Empty family: the metric's own name.
  // A family whose members carry the instance label `le` is a histogram: the cells of NAME_bucket
  // count one band each (readers cumulate), NAME_sum is their sum.
  std::string_view family = {};
  std::string_view labels = {};
  // DCGM: the name that its exporter writes, the one that DCGM itself gives it today where that
  // differs, its id, and what one unit of ours is in theirs (value * scale). Theirs is one value
  // for a GPU: of several instances the sum of a counter, the largest of anything else.
  std::string_view dcgm = {};
  std::string_view dcgm_alias = {};
  std::uint16_t dcgm_id = 0;
  double dcgm_scale = 1;
  std::string_view smi = {};  // nvidia-smi --query-gpu names, separated by commas
  std::string_view en = {};   // what it tells, one sentence
  std::string_view zh = {};
  std::string_view missing_en = {};  // when it is missing; empty: as its lane says
  std::string_view missing_zh = {};
};

}  // namespace everywatt::catalog
