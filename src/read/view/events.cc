// SPDX-License-Identifier: Apache-2.0
#include "read/view/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace everywatt::view {
namespace {

using catalog::EventKind;
using catalog::EventSource;
using catalog::MetricId;
using catalog::Row;

// A ring has a damaged row where a writer died, and rows that were overwritten while it was read:
// not one of many. A forged one may have nothing else, 2^28 times.
constexpr std::size_t kBadRows = 4096;

// No text of a mark is longer.
constexpr std::size_t kShownBytes = 256;

std::optional<std::uint64_t> number(const Row& row, MetricId id) {
  const catalog::Reading reading = row.reading(id);
  if (!reading.is_ok()) return std::nullopt;
  return reading.u64();
}

Event parse_event(const View& view, const Row& row) {
  Event event;
  event.time_ns = row.time_ns;
  const auto wall_ns = number(row, MetricId::event_wall_ns);
  event.wall_ns = wall_ns ? static_cast<std::int64_t>(*wall_ns) : view.wall_ns(row.time_ns);
  event.kind_number = number(row, MetricId::event_kind).value_or(0);
  if (event.kind_number < catalog::kEventKindCount) {
    event.kind = static_cast<EventKind>(event.kind_number);
  }
  const std::uint64_t source = number(row, MetricId::event_source).value_or(0);
  if (source < catalog::kEventSourceCount) event.source = static_cast<EventSource>(source);
  event.code = number(row, MetricId::event_code);
  if (const auto slot = number(row, MetricId::event_device); slot && *slot < recorder::kNoParent) {
    event.slot = static_cast<std::uint32_t>(*slot);
  }
  event.pid = number(row, MetricId::event_pid);
  event.identity = number(row, MetricId::event_identity).value_or(0);
  event.text = row.text(MetricId::event_text);
  return event;
}

Annotation parse_annotation(const Row& row) {
  Annotation annotation;
  annotation.uid = number(row, MetricId::annotation_uid).value_or(0);
  if (const auto step = row.reading(MetricId::annotation_step); step.is_ok()) {
    annotation.step = step.i64();
  }
  if (const auto epoch = row.reading(MetricId::annotation_epoch); epoch.is_ok()) {
    annotation.epoch = epoch.f64();
  }
  annotation.phase = base::clean_text(row.text(MetricId::annotation_phase), kShownBytes);
  const unsigned values = catalog::metric(MetricId::annotation_value).instances;
  for (unsigned value = 0; value < values; ++value) {
    const catalog::Reading reading = row.reading(MetricId::annotation_value, value);
    if (!reading.is_ok()) continue;
    annotation.values.emplace_back(
        base::clean_text(row.text(MetricId::annotation_value_name, value), kShownBytes),
        reading.f64());
  }
  return annotation;
}

Event parse_mark(const View& view, const Row& row) {
  Event event;
  event.time_ns = row.time_ns;
  const auto wall_ns = number(row, MetricId::annotation_wall_ns);
  event.wall_ns = wall_ns ? static_cast<std::int64_t>(*wall_ns) : view.wall_ns(row.time_ns);
  event.kind = EventKind::kAnnotation;
  event.kind_number = static_cast<std::uint64_t>(event.kind);
  event.source = EventSource::kUser;
  event.pid = number(row, MetricId::annotation_pid);
  event.text = row.text(MetricId::annotation_text);
  event.annotation = parse_annotation(row);
  return event;
}

// Scopes whose rows of the lane are events: what happened, and marks.
bool is_told(catalog::Scope scope) {
  return scope == catalog::Scope::kPart || scope == catalog::Scope::kNode;
}

bool is_wanted(const Event& event, const EventOptions& options) {
  if (options.slot && event.slot != options.slot) return false;
  return options.kinds.empty() ||
         std::ranges::find(options.kinds, event.kind) != options.kinds.end();
}

struct File {
  const recorder::Reader& reader;
  std::uint32_t first_ring = 0;  // what its ring 0 is called
};

// The newest of a ring, from new to old.
void append_ring(const View& view, const File& file, std::uint32_t ring,
                 const EventOptions& options, std::vector<Event>& events) {
  const recorder::Reader& reader = file.reader;
  Row row(reader.ring(ring).scope, catalog::Lane::kEvent);
  const bool is_mark = row.scope() == catalog::Scope::kNode;
  std::uint64_t end = reader.lower_bound(ring, options.to_ns + 1);
  const std::uint64_t first = reader.lower_bound(ring, options.from_ns + 1);
  std::size_t bad_rows = 0;
  std::size_t found = 0;
  while (end > first && found < options.limit && bad_rows < kBadRows) {
    if (reader.read(ring, --end, row) != recorder::RowState::kOk) {
      ++bad_rows;
      continue;
    }
    if (row.time_ns <= options.from_ns || row.time_ns > options.to_ns) continue;
    Event event = is_mark ? parse_mark(view, row) : parse_event(view, row);
    event.ring = file.first_ring + ring;
    event.sequence = end;
    if (!is_wanted(event, options)) continue;
    events.push_back(std::move(event));
    ++found;
  }
}

void append_file(const View& view, const File& file, const EventOptions& options,
                 std::vector<Event>& events) {
  for (std::uint32_t ring = 0; ring < file.reader.ring_count(); ++ring) {
    const recorder::Ring& shape = file.reader.ring(ring);
    if (shape.lane == catalog::Lane::kEvent && is_told(shape.scope)) {
      append_ring(view, file, ring, options, events);
    }
  }
}

std::uint64_t count_file(const recorder::Reader& reader) {
  std::uint64_t count = 0;
  for (std::uint32_t ring = 0; ring < reader.ring_count(); ++ring) {
    if (reader.ring(ring).lane == catalog::Lane::kEvent) count += reader.published(ring);
  }
  return count;
}

}  // namespace

std::string Event::kind_name() const {
  if (kind_number >= catalog::kEventKindCount) return fmt::format("unknown({})", kind_number);
  return std::string(catalog::event_kind_name(kind));
}

std::vector<Event> read_events(const View& view, const EventOptions& options) {
  const std::int64_t now = view.now_ns();
  EventOptions bounded = options;
  bounded.to_ns = options.to_ns == 0 ? now : std::min(options.to_ns, now);
  std::vector<Event> events;
  append_file(view, {.reader = view.recorder(), .first_ring = 0}, bounded, events);
  if (view.journal() != nullptr) {
    append_file(view, {.reader = *view.journal(), .first_ring = view.recorder().ring_count()},
                bounded, events);
  }
  std::ranges::sort(events, {}, [](const Event& event) {
    return std::tuple(event.time_ns, event.ring, event.sequence);
  });
  if (events.size() > options.limit) {
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(options.limit));
  }
  return events;
}

std::uint64_t count_events(const View& view) {
  return count_file(view.recorder()) +
         (view.journal() == nullptr ? 0 : count_file(*view.journal()));
}

}  // namespace everywatt::view
