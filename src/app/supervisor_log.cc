// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor_log.h"

#include "base/clock.h"

namespace everywatt::app {

using catalog::MetricId;

base::Result<SupervisorLog> SupervisorLog::open(recorder::File& file) {
  const auto parts = file.slots(catalog::Scope::kPart);
  if (parts.empty()) return base::fail(base::Code::kCorrupt, "the recorder has no part slots");
  auto writer =
      file.writer(parts[static_cast<unsigned>(recorder::Part::kSupervisor)], catalog::Lane::kEvent);
  if (!writer) return std::unexpected(writer.error());
  return SupervisorLog(*writer);
}

SupervisorLog::SupervisorLog(recorder::Writer writer)
    : writer_(writer), row_(catalog::Scope::kPart, catalog::Lane::kEvent) {}

void SupervisorLog::write(const Entry& entry) {
  row_.clear();
  row_.time_ns = base::boottime_ns();
  row_.set(MetricId::event_kind, static_cast<std::uint64_t>(entry.kind));
  row_.set(MetricId::event_code, entry.code);
  row_.set(MetricId::event_source, static_cast<std::uint64_t>(catalog::EventSource::kSupervisor));
  row_.set(MetricId::event_wall_ns, base::walltime_ns());
  if (entry.pid != 0) row_.set(MetricId::event_pid, entry.pid);
  if (entry.slot) row_.set(MetricId::event_device, static_cast<std::uint64_t>(*entry.slot));
  row_.set_text(MetricId::event_text, entry.text);
  writer_.append(row_);
}

}  // namespace everywatt::app
