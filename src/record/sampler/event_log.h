// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "catalog/event.h"
#include "catalog/row.h"
#include "record/recorder/writer.h"

namespace everywatt::sampler {

struct Event {
  catalog::EventKind kind{};
  catalog::EventSource source = catalog::EventSource::kReadings;
  std::uint64_t code = 0;
  std::uint32_t device = 0;  // slot
  std::string text;
};

// The sampler's event ring, for all its threads. A row is in the recorder when add() returns.
class EventLog {
 public:
  EventLog(recorder::Writer writer, base::Clock clock, base::Clock wall_clock);

  void add(const Event& event);

 private:
  const base::Clock clock_;
  const base::Clock wall_clock_;
  std::mutex mutex_;
  recorder::Writer writer_;
  catalog::Row row_;
};

}  // namespace everywatt::sampler
