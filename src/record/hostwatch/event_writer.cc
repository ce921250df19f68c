// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/event_writer.h"

#include <algorithm>

namespace everywatt::hostwatch {
namespace {

using catalog::MetricId;

void put(catalog::Row& row, MetricId metric, std::optional<std::uint64_t> value) {
  if (value) {
    row.set(metric, *value);
  } else {
    row.set_absent(metric, catalog::State::kNotSupported);
  }
}

}  // namespace

EventWriter::EventWriter(recorder::Writer writer)
    : writer_(writer), row_(catalog::Scope::kPart, catalog::Lane::kEvent) {
  if (writer_.read_last(row_)) last_ns_ = row_.time_ns;
}

base::Result<EventWriter> EventWriter::open(recorder::File& file) {
  const std::uint32_t slot =
      file.slots(catalog::Scope::kPart).at(static_cast<std::size_t>(recorder::Part::kHost));
  auto writer = file.writer(slot, catalog::Lane::kEvent);
  if (!writer) return std::unexpected(writer.error());
  return EventWriter(*writer);
}

void EventWriter::write(const Event& event, std::int64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns);
  row_.clear();
  row_.time_ns = last_ns_;
  row_.set(MetricId::event_kind, std::uint64_t{static_cast<std::uint8_t>(event.kind)});
  row_.set(MetricId::event_source, std::uint64_t{static_cast<std::uint8_t>(event.source)});
  put(row_, MetricId::event_code, event.code);
  put(row_, MetricId::event_device, event.device);
  put(row_, MetricId::event_pid, event.pid);
  put(row_, MetricId::event_identity, event.identity);
  row_.set(MetricId::event_wall_ns, event.wall_ns);
  row_.set_text(MetricId::event_text, event.text);
  writer_.append(row_);
}

}  // namespace everywatt::hostwatch
