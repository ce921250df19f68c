// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <thread>

#include "app/commands.h"
#include "app/json_text.h"
#include "app/latest_lines.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/own_reading.h"
#include "app/selection.h"
#include "app/source.h"
#include "base/clock.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

// Wide enough for "142 GiB" and for the reasons that are shown most.
constexpr std::size_t kCellWidth = 10;

// Nobody's screen shows more, and no source refreshes faster.
constexpr std::int64_t kShortestIntervalNs = 100'000'000;

std::string pad_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, base::display_width(text)), ' ') + text;
}

std::string column_name(const LatestLine& line) {
  return line.device.label() + " " + metric_label(line);
}

std::string format_heading(const std::vector<LatestLine>& lines) {
  std::string out = "time        ";
  for (const LatestLine& line : lines) {
    out += "  " + pad_left(column_name(line), kCellWidth);
  }
  return out + "\n";
}

std::string format_line(const view::View& view, const std::vector<LatestLine>& lines) {
  std::string out = base::format_time_of_day(view.wall_ns(view.now_ns()));
  for (const LatestLine& line : lines) {
    const std::size_t width = std::max(kCellWidth, base::display_width(column_name(line)));
    const std::string value = line.latest.is_ok() ? shown_value(line, Language::kEn)
                                                  : std::string(view::absence_name(line.latest));
    out += "  " + pad_left(value, width);
  }
  return out + "\n";
}

std::string format_json_line(const view::View& view, const std::vector<LatestLine>& lines) {
  JsonText json;
  json.begin_object();
  json.key("time").string(base::format_time(view.wall_ns(view.now_ns())));
  json.key("readings").begin_array();
  for (const LatestLine& line : lines) {
    json.begin_object();
    append_latest(json, view, line);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

// Prints a line each interval until the reader is killed or has seen enough of them.
class Watch {
 public:
  Watch(const Arguments& arguments, const Config& config, std::vector<catalog::MetricId> metrics)
      : arguments_(arguments), config_(config), metrics_(std::move(metrics)) {}

  base::Result<ExitCode> run(Source source) {
    const std::int64_t interval_ns = std::max(arguments_.interval_ns, kShortestIntervalNs);
    std::int64_t next_ns = base::boottime_ns();
    for (std::uint64_t line = 0; !arguments_.times || line < *arguments_.times; ++line) {
      if (source.view->is_replaced()) {
        auto again = open_source(arguments_, config_, NoDaemon::kComplain);
        if (!again) return std::unexpected(again.error());
        source = *std::move(again);
      }
      if (auto printed = print_line(*source.view); !printed) {
        return std::unexpected(printed.error());
      }
      // A file does not change.
      if (source.kind == SourceKind::kFile && !is_live(source.view->recorder(), next_ns)) break;
      next_ns += interval_ns;
      std::this_thread::sleep_for(
          std::chrono::nanoseconds(std::max<std::int64_t>(0, next_ns - base::boottime_ns())));
    }
    return kFine;
  }

 private:
  base::Status print_line(const view::View& view) {
    const auto gpus = select_gpus(view, config_, arguments_.gpus);
    if (!gpus) return std::unexpected(gpus.error());
    const std::vector<LatestLine> lines = read_latest(view, metrics_, *gpus);
    if (arguments_.form == OutputForm::kJson) {
      print(format_json_line(view, lines));
      return {};
    }
    // Devices and instances come and go: a new heading says which column is which.
    const std::string heading = format_heading(lines);
    if (heading != heading_) print(heading_ = heading);
    print(format_line(view, lines));
    return {};
  }

  const Arguments& arguments_;
  const Config& config_;
  std::vector<catalog::MetricId> metrics_;
  std::string heading_;
};

}  // namespace

base::Result<ExitCode> run_watch(const Arguments& arguments, const Config& config) {
  const auto metrics = find_metrics(arguments.metrics);
  if (!metrics) return std::unexpected(metrics.error());
  Watch watch(arguments, config, *metrics);
  auto source = find_source(arguments, config);
  if (source && (source->kind == SourceKind::kDaemon || !arguments.recorder.empty())) {
    return watch.run(*std::move(source));
  }
  if (!source && source.error().code != base::Code::kUnavailable)
    return std::unexpected(source.error());
  print_note(text(arguments.language, Message::no_daemon_own_watch));
  auto own = OwnWatch::start(config);
  if (!own) return std::unexpected(own.error());
  auto view = (*own)->open_view();
  if (!view) return std::unexpected(view.error());
  return watch.run({.kind = SourceKind::kOwnReading, .path = {}, .view = *std::move(view)});
}

}  // namespace everywatt::app
