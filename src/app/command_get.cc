// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/commands.h"
#include "app/json_text.h"
#include "app/latest_lines.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/selection.h"
#include "app/source.h"
#include "app/table.h"
#include "base/clock.h"
#include "read/view/reasons.h"

namespace everywatt::app {
namespace {

std::string shown_age(const LatestLine& line, Language language) {
  if (line.latest.time_ns == 0) return "-";
  return catalog::metric(line.id).kind == catalog::Kind::kConst
             ? ""
             : view::duration_text(line.latest.age_ns, language);
}

std::string shown_window(const LatestLine& line, Language language) {
  if (line.latest.window_start_ns == 0) return "";
  return view::duration_text(line.latest.window_end_ns - line.latest.window_start_ns, language);
}

std::string format_table(const std::vector<LatestLine>& lines, Language language) {
  Table table({{say(language, Message::heading_device)},
               {say(language, Message::heading_metric)},
               {say(language, Message::heading_value), Align::kRight},
               {say(language, Message::heading_age), Align::kRight},
               {say(language, Message::heading_window), Align::kRight}});
  for (const LatestLine& line : lines) {
    table.add({line.device.label(), metric_label(line), shown_value(line, language),
               shown_age(line, language), shown_window(line, language)});
  }
  return table.format(stdout_emphasis());
}

std::string format_json(const view::View& view, const std::vector<LatestLine>& lines) {
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

}  // namespace

base::Result<ExitCode> run_get(const Arguments& arguments, const Config& config) {
  const auto metrics = find_metrics(arguments.metrics);
  if (!metrics) return std::unexpected(metrics.error());
  const auto source = open_source(arguments, config, NoDaemon::kReadOnce);
  if (!source) return std::unexpected(source.error());
  const auto gpus = select_gpus(*source->view, config, arguments.gpus);
  if (!gpus) return std::unexpected(gpus.error());
  const std::vector<LatestLine> lines = read_latest(*source->view, *metrics, *gpus);
  print(arguments.form == OutputForm::kJson ? format_json(*source->view, lines)
                                            : format_table(lines, arguments.language));
  const bool is_complete =
      !lines.empty() && std::all_of(lines.begin(), lines.end(),
                                    [](const LatestLine& line) { return line.latest.is_ok(); });
  return is_complete ? kFine : kNeedsLook;
}

}  // namespace everywatt::app
