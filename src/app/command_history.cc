// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/commands.h"
#include "app/json_text.h"
#include "app/output.h"
#include "app/selection.h"
#include "app/shown_value.h"
#include "app/source.h"
#include "base/clock.h"
#include "catalog/glossary.h"
#include "read/view/series.h"

namespace everywatt::app {
namespace {

// One metric instance of one device over the time asked for.
struct Line {
  view::Device device;
  catalog::MetricId id{};
  unsigned instance = 0;
  view::Series series;
};

view::SeriesOptions series_options(const Arguments& arguments, const view::View& view) {
  const std::int64_t now_ns = view.now_ns();
  return {.from_ns = now_ns - arguments.since_ns,
          .to_ns = now_ns - arguments.until_ns.value_or(0),
          .step_ns = arguments.step_ns.value_or(0)};
}

bool has_value(const view::Series& series) {
  for (const view::Point& point : series.points) {
    if (point.is_ok()) return true;
  }
  return false;
}

// Of a metric with several instances those that ever had a value.
std::vector<Line> read_lines(const Arguments& arguments, const view::View& view,
                             std::span<const catalog::MetricId> metrics,
                             std::span<const view::Device> gpus) {
  const view::SeriesOptions options = series_options(arguments, view);
  std::vector<Line> lines;
  for (const catalog::MetricId id : metrics) {
    const unsigned instances = catalog::metric(id).instances;
    for (const view::Device& device : devices_with(view, id, gpus)) {
      for (unsigned instance = 0; instance < instances; ++instance) {
        view::Series series =
            view::read_series(view, view.handle(device.slot, id, instance), options);
        if (instances > 1 && !has_value(series)) continue;
        lines.push_back({device, id, instance, std::move(series)});
      }
    }
  }
  return lines;
}

// A computed point has no exact bits: a mean of integers is no integer.
bool is_computed(const Arguments& arguments, const catalog::Metric& metric) {
  return arguments.step_ns.has_value() && metric.kind == catalog::Kind::kGauge;
}

std::string exact_value(const Arguments& arguments, const catalog::Metric& metric,
                        const view::Point& point) {
  if (!point.is_ok()) return {};
  if (is_computed(arguments, metric)) return fmt::format("{}", point.value);
  return format_exact(metric.type, point.bits);
}

std::string format_csv(const Arguments& arguments, const view::View& view,
                       const std::vector<Line>& lines) {
  std::string out = "time,unix_ns,device,uuid,metric,instance,value,state,window_ns\n";
  for (const Line& line : lines) {
    const catalog::Metric& metric = catalog::metric(line.id);
    const std::string instance =
        metric.instances > 1 ? catalog::instance_name(line.id, line.instance) : std::string{};
    for (const view::Point& point : line.series.points) {
      const std::int64_t wall_ns = view.wall_ns(point.time_ns);
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{}\n",
                     base::format_time(wall_ns), wall_ns, line.device.label(), line.device.uuid,
                     metric.name, instance, exact_value(arguments, metric, point),
                     catalog::state_name(point.state), point.window_end_ns - point.window_start_ns);
    }
  }
  return out;
}

void append_points(JsonText& json, const Arguments& arguments, const view::View& view,
                   const Line& line) {
  const catalog::Metric& metric = catalog::metric(line.id);
  json.key("columns").begin_array();
  for (const char* name : {"unix_ns", "value", "state", "window_ns"}) {
    json.string(name);
  }
  json.end_array().key("points").begin_array();
  for (const view::Point& point : line.series.points) {
    json.begin_array().number(view.wall_ns(point.time_ns));
    if (!point.is_ok()) {
      json.null();
    } else if (is_computed(arguments, metric)) {
      json.number(point.value);
    } else {
      append_value(json, metric.type, point.bits);
    }
    json.string(catalog::state_name(point.state));
    json.number(point.window_end_ns - point.window_start_ns).end_array();
  }
  json.end_array();
}

std::string format_json(const Arguments& arguments, const view::View& view,
                        const std::vector<Line>& lines) {
  JsonText json;
  json.begin_object().key("series").begin_array();
  for (const Line& line : lines) {
    const catalog::Metric& metric = catalog::metric(line.id);
    json.begin_object();
    json.key("metric").string(metric.name);
    if (metric.unit != catalog::Unit::kNone) {
      json.key("unit").string(catalog::unit_name(metric.unit));
    }
    json.key("device").string(line.device.label());
    json.key("uuid").string(line.device.uuid);
    if (metric.instances > 1)
      json.key(metric.instance_label).string(catalog::instance_name(line.id, line.instance));
    if (line.series.reaches_back_to_ns != 0) {
      json.key("reaches_back_to")
          .string(base::format_time(view.wall_ns(line.series.reaches_back_to_ns)));
    }
    append_points(json, arguments, view, line);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

}  // namespace

base::Result<ExitCode> run_history(const Arguments& arguments, const Config& config) {
  const auto metrics = find_metrics(arguments.metrics);
  if (!metrics) return std::unexpected(metrics.error());
  for (const catalog::MetricId id : *metrics) {
    if (catalog::metric(id).type == catalog::Type::kText) {
      return base::fail(base::Code::kInvalidArgument,
                        fmt::format("history: {} is a text", catalog::metric(id).name),
                        "read it with: everywatt get");
    }
  }
  const auto source = open_source(arguments, config, NoDaemon::kShowOld);
  if (!source) return std::unexpected(source.error());
  const view::View& view = *source->view;
  const auto gpus = select_gpus(view, config, arguments.gpus);
  if (!gpus) return std::unexpected(gpus.error());
  const std::vector<Line> lines = read_lines(arguments, view, *metrics, *gpus);
  print(arguments.form == OutputForm::kJson ? format_json(arguments, view, lines)
                                            : format_csv(arguments, view, lines));
  for (const Line& line : lines) {
    if (!has_value(line.series)) return kNeedsLook;
  }
  return lines.empty() ? kNeedsLook : kFine;
}

}  // namespace everywatt::app
