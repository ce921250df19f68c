// SPDX-License-Identifier: Apache-2.0
#include "read/view/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace everywatt::view {
namespace {

using catalog::EventKind;
using catalog::EventSource;
using catalog::MetricId;
using catalog::Row;

// A ring has a damaged row where a writer died, and rows that were overwritten while it was read:
// not one of many. A forged one may have nothing else, 2^28 times.
constexpr std::size_t kBadRows = 4096;

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

bool is_wanted(const Event& event, const EventOptions& options) {
  if (options.slot && event.slot != options.slot) return false;
  return options.kinds.empty() ||
         std::ranges::find(options.kinds, event.kind) != options.kinds.end();
}

}  // namespace

std::string Event::kind_name() const {
  if (kind_number >= catalog::kEventKindCount) return fmt::format("unknown({})", kind_number);
  return std::string(catalog::event_kind_name(kind));
}

std::vector<Event> read_events(const View& view, const EventOptions& options) {
  const recorder::Reader& reader = view.recorder();
  const std::int64_t now = view.now_ns();
  const std::int64_t to_ns = options.to_ns == 0 ? now : std::min(options.to_ns, now);
  std::vector<Event> events;
  Row row(catalog::Scope::kPart, catalog::Lane::kEvent);
  for (std::uint32_t ring = 0; ring < reader.ring_count(); ++ring) {
    if (reader.ring(ring).lane != catalog::Lane::kEvent ||
        reader.ring(ring).scope != catalog::Scope::kPart) {
      continue;
    }
    std::vector<Event> of_ring;
    std::uint64_t end = view.end_at(ring, to_ns);
    const std::uint64_t first = reader.lower_bound(ring, options.from_ns + 1);
    std::size_t bad_rows = 0;
    while (end > first && of_ring.size() < options.limit && bad_rows < kBadRows) {
      if (reader.read(ring, --end, row) != recorder::RowState::kOk) {
        ++bad_rows;
        continue;
      }
      if (row.time_ns <= options.from_ns || row.time_ns > to_ns) continue;
      Event event = parse_event(view, row);
      event.ring = ring;
      event.sequence = end;
      if (is_wanted(event, options)) of_ring.push_back(std::move(event));
    }
    std::ranges::move(of_ring, std::back_inserter(events));
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
  std::uint64_t count = 0;
  for (std::uint32_t ring = 0; ring < view.recorder().ring_count(); ++ring) {
    if (view.recorder().ring(ring).lane == catalog::Lane::kEvent) {
      count += view.recorder().published(ring);
    }
  }
  return count;
}

}  // namespace everywatt::view
