// SPDX-License-Identifier: Apache-2.0
//
// The words by which units, kinds, types, scopes, lanes, states and events are known outside.
#include <array>

#include "base/check.h"
#include "catalog/catalog.h"
#include "catalog/event.h"

namespace everywatt::catalog {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kUnitNames{""sv,        "ratio"sv,  "bytes"sv,   "bytes_per_second"sv,
                                "watts"sv,   "joules"sv, "celsius"sv, "hertz"sv,
                                "seconds"sv, "count"sv};
constexpr std::array kKindNames{"gauge"sv, "counter"sv, "state"sv, "mask"sv, "const"sv};
constexpr std::array kTypeNames{"f64"sv, "u64"sv, "i64"sv, "text"sv};
constexpr std::array kScopeNames{"gpu"sv,       "node"sv,       "disk"sv,
                                 "interface"sv, "infiniband"sv, "part"sv};
constexpr std::array kLaneNames{"gauge"sv,    "power"sv,  "gpm"sv,    "process"sv, "slow"sv,
                                "once"sv,     "totals"sv, "faults"sv, "host"sv,    "host_process"sv,
                                "identity"sv, "event"sv,  "part"sv,   "sampling"sv};
constexpr std::array kStateNames{"not_read"sv,      "ok"sv,    "no_new_data"sv, "not_supported"sv,
                                 "no_permission"sv, "lost"sv,  "timed_out"sv,   "drained"sv,
                                 "invalid"sv,       "failed"sv};
constexpr std::array kEventNames{"unknown"sv,
                                 "xid"sv,
                                 "ecc"sv,
                                 "gpu_lost"sv,
                                 "gpu_back"sv,
                                 "timed_out"sv,
                                 "drained"sv,
                                 "resumed"sv,
                                 "gpu_reset"sv,
                                 "throttle_start"sv,
                                 "throttle_end"sv,
                                 "process_start"sv,
                                 "process_end"sv,
                                 "mig_changed"sv,
                                 "driver_changed"sv,
                                 "driver_absent"sv,
                                 "coverage_lost"sv,
                                 "clock_step"sv,
                                 "part_started"sv,
                                 "part_ended"sv,
                                 "recorder_replaced"sv,
                                 "kernel_line"sv,
                                 "annotation"sv,
                                 "incident"sv,
                                 "link_down"sv,
                                 "link_up"sv,
                                 "row_remapped"sv,
                                 "out_of_memory"sv,
                                 "power_limit_changed"sv,
                                 "driver_back"sv,
                                 "gpu_added"sv,
                                 "gpu_removed"sv};
constexpr std::array kSourceNames{"unknown"sv, "nvml"sv, "readings"sv,   "kernel_log"sv,
                                  "uevent"sv,  "host"sv, "supervisor"sv, "user"sv};
static_assert(kScopeNames.size() == kScopeCount && kLaneNames.size() == kLaneCount);
static_assert(kStateNames.size() == kStateCount);
static_assert(kEventNames.size() == kEventKindCount && kSourceNames.size() == kEventSourceCount);

template <std::size_t kCount, typename Enum>
std::string_view name_in(const std::array<std::string_view, kCount>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  CHECK(index < kCount);
  return names[index];
}

}  // namespace

std::string_view unit_name(Unit unit) {
  return name_in(kUnitNames, unit);
}
std::string_view kind_name(Kind kind) {
  return name_in(kKindNames, kind);
}
std::string_view type_name(Type type) {
  return name_in(kTypeNames, type);
}
std::string_view scope_name(Scope scope) {
  return name_in(kScopeNames, scope);
}
std::string_view lane_name(Lane lane) {
  return name_in(kLaneNames, lane);
}
std::string_view state_name(State state) {
  return name_in(kStateNames, state);
}

// Events are read from files, which may be newer: a number without a name is no mistake of ours.
std::string_view event_kind_name(EventKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kEventKindCount ? kEventNames[index] : kEventNames[0];
}

std::string_view event_source_name(EventSource source) {
  const auto index = static_cast<std::size_t>(source);
  return index < kEventSourceCount ? kSourceNames[index] : kSourceNames[0];
}

std::optional<EventKind> event_kind_by_name(std::string_view name) {
  for (std::size_t i = 1; i < kEventKindCount; ++i) {
    if (kEventNames[i] == name) return static_cast<EventKind>(i);
  }
  return std::nullopt;
}

}  // namespace everywatt::catalog
