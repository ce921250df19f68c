// SPDX-License-Identifier: Apache-2.0
#include "serve/web/tick.h"

#include <algorithm>

namespace everywatt::web {

Tick TickReader::read(const view::View& view, std::uint64_t generation) {
  const recorder::Reader& reader = view.recorder();
  if (generation != generation_) {
    generation_ = generation;
    gauge_rings_.clear();
    event_rings_.clear();
    for (std::uint32_t ring = 0; ring < reader.ring_count(); ++ring) {
      const catalog::Lane lane = reader.ring(ring).lane;
      if (lane == catalog::Lane::kGauge) gauge_rings_.push_back(ring);
      if (lane == catalog::Lane::kEvent) event_rings_.push_back(ring);
    }
  }
  Tick tick{.generation = generation, .newest_gauge = 0, .events = 0};
  std::int64_t newest_ns = 0;
  for (const std::uint32_t ring : gauge_rings_) {
    const std::uint64_t end = reader.published(ring);
    if (end == 0) continue;
    newest_ns = std::max(newest_ns, reader.read_time(ring, end - 1).value_or(0));
  }
  tick.newest_gauge = newest_ns / kTickNs;
  for (const std::uint32_t ring : event_rings_)
    tick.events += reader.published(ring);
  return tick;
}

}  // namespace everywatt::web
