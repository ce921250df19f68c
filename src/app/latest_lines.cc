// SPDX-License-Identifier: Apache-2.0
#include "app/latest_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/messages.h"
#include "app/selection.h"
#include "app/shown_value.h"
#include "base/clock.h"
#include "catalog/glossary.h"
#include "read/view/reasons.h"

namespace everywatt::app {
namespace {

constexpr double kNsPerSecond = 1e9;

LatestLine read_line(const view::View& view, const view::Device& device, catalog::MetricId id,
                     unsigned instance) {
  LatestLine line{.device = device, .id = id, .instance = instance, .latest = {}, .text = {}};
  line.latest = view.latest(device.slot, id, instance);
  line.names_instance = catalog::metric(id).instances > 1 && line.latest.is_ok();
  if (catalog::metric(id).type == catalog::Type::kText && instance == 0) {
    line.text = view.text(device.slot, id);
  }
  return line;
}

// Not one that the device does not have: one that it has and that could not be read.
bool is_failed(const LatestLine& line) {
  const catalog::State state = line.latest.reading.state;
  return line.latest.absence == view::Absence::kState &&
         (state == catalog::State::kFailed || state == catalog::State::kInvalid);
}

// Appends the instances of a metric that has several.
void append_instances(const view::View& view, const view::Device& device, catalog::MetricId id,
                      std::vector<LatestLine>& lines) {
  std::vector<LatestLine> found;
  bool has_value = false;
  for (unsigned instance = 0; instance < catalog::metric(id).instances; ++instance) {
    LatestLine line = read_line(view, device, id, instance);
    has_value |= line.latest.is_ok();
    if (!line.latest.is_ok() && !is_failed(line)) continue;
    line.names_instance = true;
    found.push_back(std::move(line));
  }
  if (!has_value) found = {read_line(view, device, id, 0)};
  std::ranges::move(found, std::back_inserter(lines));
}

}  // namespace

std::vector<LatestLine> read_latest(const view::View& view,
                                    std::span<const catalog::MetricId> metrics,
                                    std::span<const view::Device> gpus) {
  std::vector<LatestLine> lines;
  for (const catalog::MetricId id : metrics) {
    for (const view::Device& device : devices_with(view, id, gpus)) {
      if (catalog::metric(id).instances > 1) {
        append_instances(view, device, id, lines);
      } else {
        lines.push_back(read_line(view, device, id, 0));
      }
    }
  }
  return lines;
}

std::string metric_label(const LatestLine& line) {
  const catalog::Metric& metric = line.metric();
  if (!line.names_instance) return std::string(metric.name);
  return fmt::format("{}{{{}={}}}", metric.name, metric.instance_label,
                     catalog::instance_name(line.id, line.instance));
}

std::string shown_value(const LatestLine& line, Language language) {
  if (line.latest.is_ok()) {
    if (line.metric().type == catalog::Type::kText) return line.text;
    return catalog::format_value(line.id, catalog::as_double(line.id, line.latest.reading));
  }
  if (line.latest.absence == view::Absence::kStale) {
    return say(language, Message::shown_stale, view::duration_text(line.latest.age_ns, language));
  }
  if (line.latest.absence == view::Absence::kNoRows) return say(language, Message::shown_no_rows);
  const catalog::State state = line.latest.absence == view::Absence::kNoRing
                                   ? catalog::State::kNotSupported
                                   : line.latest.reading.state;
  return "- (" + std::string(catalog::state_word(state, language)) + ")";
}

void append_latest(JsonText& json, const view::View& view, const LatestLine& line) {
  const catalog::Metric& metric = line.metric();
  const view::Latest& latest = line.latest;
  if (metric.scope == catalog::Scope::kGpu) {
    json.key("gpu").number(line.device.is_mig() ? line.device.parent_index : line.device.index);
    if (line.device.is_mig()) json.key("mig").number(line.device.index);
    json.key("uuid").string(line.device.uuid);
  } else {
    json.key("device").string(line.device.label());
  }
  json.key("metric").string(metric.name);
  if (line.names_instance) {
    json.key(metric.instance_label).string(catalog::instance_name(line.id, line.instance));
  }
  json.key("state").string(latest.is_ok() ? "ok" : view::absence_name(latest));
  json.key("value");
  if (!latest.is_ok()) {
    json.null();
  } else if (metric.type == catalog::Type::kText) {
    json.string(line.text);
  } else {
    append_value(json, metric.type, latest.reading.bits);
  }
  if (metric.unit != catalog::Unit::kNone) json.key("unit").string(catalog::unit_name(metric.unit));
  if (latest.time_ns == 0) return;
  json.key("time").string(base::format_time(view.wall_ns(latest.time_ns)));
  json.key("age_seconds").number(static_cast<double>(latest.age_ns) / kNsPerSecond);
  if (latest.window_start_ns != 0) {
    json.key("window_seconds")
        .number(static_cast<double>(latest.window_end_ns - latest.window_start_ns) / kNsPerSecond);
  }
}

}  // namespace everywatt::app
