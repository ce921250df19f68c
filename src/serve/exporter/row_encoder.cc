// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/row_encoder.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "catalog/row.h"
#include "read/view/device.h"
#include "serve/exporter/exporter.h"
#include "serve/exporter/families.h"
#include "serve/exporter/plan.h"
#include "serve/exporter/samples.h"

namespace everywatt::exporter {
namespace {

using catalog::Lane;
using catalog::MetricId;
using recorder::RowState;

// The lanes of a GPU with rows every 100 ms, if not always.
constexpr std::array kLanes{Lane::kGauge, Lane::kGpm};

bool is_of_rows(const Family& family) {
  return family.scope == catalog::Scope::kGpu && !family.is_histogram() &&
         std::ranges::all_of(family.members, [](MetricId id) {
           return std::ranges::find(kLanes, catalog::metric(id).lane) != kLanes.end();
         });
}

}  // namespace

struct RowEncoder::State {
  State() {
    for (Family& family : make_families()) {
      if (!is_of_rows(family)) continue;
      names.insert(family.name);
      families.push_back(std::move(family));
    }
  }

  void encode_ring(const view::View& view, const Target& target, std::uint32_t ring,
                   std::int64_t from_ns, Exposition& out, TimedSink& sink);
  void encode_row(const Target& target, const catalog::Row& row, Exposition& out) const;

  std::vector<Family> families;
  std::set<std::string_view> names;
  Plan plan;
  std::optional<std::uint64_t> planned_changes;
  std::int64_t created_ns = 0;                  // of the file
  std::map<std::uint32_t, std::uint64_t> next;  // by ring: the row after the last one
};

void RowEncoder::State::encode_row(const Target& target, const catalog::Row& row,
                                   Exposition& out) const {
  for (const Family& family : families) {
    for (const MetricId id : family.members) {
      const catalog::Metric& metric = catalog::metric(id);
      if (metric.lane != row.lane()) continue;
      out.begin_family(family.name, family.type, family.help);
      for (unsigned instance = 0; instance < metric.instances; ++instance)
        append_reading(target, id, instance, row.reading(id, instance), out);
    }
  }
}

void RowEncoder::State::encode_ring(const view::View& view, const Target& target,
                                    std::uint32_t ring, std::int64_t from_ns, Exposition& out,
                                    TimedSink& sink) {
  const recorder::Reader& reader = view.recorder();
  const auto known = next.find(ring);
  std::uint64_t sequence =
      known != next.end() ? known->second : reader.lower_bound(ring, from_ns + 1);
  sequence = std::max(sequence, reader.oldest(ring));
  const std::int64_t rows_before_ns = reader.device(target.device.slot).rows_before_ns;
  catalog::Row row(catalog::Scope::kGpu, reader.ring(ring).lane);
  for (const std::uint64_t end = view.end_at(ring, view.now_ns()); sequence < end; ++sequence) {
    if (reader.read(ring, sequence, row) != RowState::kOk) continue;
    if (row.time_ns < rows_before_ns) continue;
    sink.set_time(row.time_ns);
    encode_row(target, row, out);
  }
  next[ring] = sequence;
}

RowEncoder::RowEncoder() : state_(std::make_unique<State>()) {}
RowEncoder::~RowEncoder() = default;
RowEncoder::RowEncoder(RowEncoder&&) noexcept = default;
RowEncoder& RowEncoder::operator=(RowEncoder&&) noexcept = default;

bool RowEncoder::has_family(std::string_view name) const {
  return state_->names.contains(name);
}

void RowEncoder::encode(const view::View& view, std::int64_t from_ns,
                        std::span<const std::string> filter, TimedSink& sink) {
  State& state = *state_;
  if (state.created_ns != view.recorder().created_ns()) {
    state.next.clear();
    state.created_ns = view.recorder().created_ns();
  }
  const std::uint64_t changes = view::device_changes(view);
  if (state.planned_changes != changes) {
    state.plan = make_plan(view, {.hostname = "", .counters = {}});
    state.planned_changes = changes;
  }
  Exposition out(sink);
  out.set_filter(filter);
  for (const Target& target : state.plan.targets) {
    if (target.device.scope != catalog::Scope::kGpu) continue;
    for (const Lane lane : kLanes) {
      const auto ring = view.recorder().find_ring(target.device.slot, lane);
      if (ring) state.encode_ring(view, target, *ring, from_ns, out, sink);
    }
  }
}

}  // namespace everywatt::exporter
