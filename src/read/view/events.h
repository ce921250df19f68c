// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catalog/event.h"
#include "read/view/view.h"

namespace everywatt::view {

// What comes with a mark that somebody set, beside its text.
struct Annotation {
  std::uint64_t uid = 0;  // of who set it
  std::optional<std::int64_t> step;
  std::optional<double> epoch;
  std::string phase;  // "": none
  std::vector<std::pair<std::string, double>> values;
};

// One thing that happened.
struct Event {
  std::int64_t time_ns = 0;  // boottime
  std::int64_t wall_ns = 0;  // as its source stamped it, or from the time
  // Which row it is: together they name the event among those of a view. The journal's rings are
  // numbered behind the recorder's.
  std::uint32_t ring = 0;
  std::uint64_t sequence = 0;

  catalog::EventKind kind = catalog::EventKind::kUnknown;
  std::uint64_t kind_number = 0;  // also of kinds that this version does not know
  catalog::EventSource source = catalog::EventSource::kUnknown;
  std::optional<std::uint64_t> code;  // XID, exit status, bit: see EventKind
  std::optional<std::uint32_t> slot;  // of the device that it happened to
  std::optional<std::uint64_t> pid;
  std::uint64_t identity = 0;  // key of that process; 0: unknown
  std::string text;
  std::optional<Annotation> annotation;  // of a mark

  // "xid"; "unknown(77)".
  std::string kind_name() const;
};

struct EventOptions {
  std::int64_t from_ns = 0;                    // from < time <= to
  std::int64_t to_ns = 0;                      // 0: now
  std::optional<std::uint32_t> slot = {};      // one device alone
  std::vector<catalog::EventKind> kinds = {};  // empty: all
  std::size_t limit = 100'000;                 // the newest are kept
};

// The events of all rings and the marks of the journal, merged in order of time.
std::vector<Event> read_events(const View& view, const EventOptions& options);

// How many events were recorded so far, over all rings: another number when something happened.
std::uint64_t count_events(const View& view);

}  // namespace everywatt::view
