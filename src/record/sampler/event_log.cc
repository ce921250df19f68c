// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/event_log.h"

#include <utility>

namespace everywatt::sampler {

using catalog::MetricId;

EventLog::EventLog(recorder::Writer writer, base::Clock clock, base::Clock wall_clock)
    : clock_(std::move(clock)),
      wall_clock_(std::move(wall_clock)),
      writer_(writer),
      row_(catalog::Scope::kPart, catalog::Lane::kEvent) {}

void EventLog::add(const Event& event) {
  const std::lock_guard lock(mutex_);
  row_.clear();
  // Under the lock: the rows of a ring are in order of time.
  row_.time_ns = clock_();
  row_.set(MetricId::event_kind, std::uint64_t{static_cast<std::uint8_t>(event.kind)});
  row_.set(MetricId::event_source, std::uint64_t{static_cast<std::uint8_t>(event.source)});
  row_.set(MetricId::event_code, event.code);
  row_.set(MetricId::event_device, std::uint64_t{event.device});
  row_.set(MetricId::event_wall_ns, wall_clock_());
  row_.set_text(MetricId::event_text, event.text);
  writer_.append(row_);
}

}  // namespace everywatt::sampler
