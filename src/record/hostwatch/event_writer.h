// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "catalog/event.h"
#include "catalog/row.h"
#include "record/recorder/writer.h"

namespace everywatt::hostwatch {

struct Event {
  catalog::EventKind kind = catalog::EventKind::kUnknown;
  catalog::EventSource source = catalog::EventSource::kHost;
  std::optional<std::uint64_t> code;
  std::optional<std::uint32_t> device;  // slot
  std::optional<std::uint32_t> pid;
  std::optional<std::uint64_t> identity;
  std::int64_t wall_ns = 0;  // when it happened
  std::string_view text;     // no command and no user: everybody may read the recorder
};

// The event ring of this process.
class EventWriter {
 public:
  static base::Result<EventWriter> open(recorder::File& file);

  // `time_ns` is when it happened; rows are in order of time, so that an event that is told late
  // gets the time of the one before it. Its wall time stays true.
  void write(const Event& event, std::int64_t time_ns);

 private:
  explicit EventWriter(recorder::Writer writer);

  recorder::Writer writer_;
  catalog::Row row_;
  std::int64_t last_ns_ = 0;
};

}  // namespace everywatt::hostwatch
