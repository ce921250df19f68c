// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/view/view.h"

namespace everywatt::view {

// One thing that happened. Which parts are filled depends on its kind.
struct Event {
  std::int64_t time_ns = 0;
  std::uint32_t slot = 0;      // of the device whose ring it is in
  std::uint64_t sequence = 0;  // of its row: with the slot it names the event
  std::uint64_t kind = 0;      // number of the kind
  std::string kind_name;       // "xid", "process_start", ...
  std::uint64_t code = 0;      // XID, bits, ...
  std::uint64_t pid = 0;       // 0: none
  double value = 0;
  std::string text;
};

struct EventOptions {
  std::int64_t from_ns = 0;           // from < time <= to
  std::int64_t to_ns = 0;             // 0: now
  std::optional<std::uint32_t> slot;  // one device alone
  std::vector<std::string> kinds;     // empty: all
  std::size_t limit = 100'000;        // the newest are kept
};

// The events of all rings, merged in order of time.
std::vector<Event> read_events(const View& view, const EventOptions& options);

}  // namespace everywatt::view
