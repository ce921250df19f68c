// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/json_text.h"
#include "app/latest_lines.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/selection.h"
#include "app/source.h"
#include "device/nvml/call.h"
#include "read/view/reasons.h"

namespace everywatt::app {

base::Result<ExitCode> run_why(const Arguments& arguments, const Config& config) {
  const auto metrics = find_metrics(arguments.metrics);
  if (!metrics) return std::unexpected(metrics.error());
  const auto source = open_source(arguments, config, NoDaemon::kComplain);
  if (!source) return std::unexpected(source.error());
  const view::View& view = *source->view;
  const auto gpus = select_gpus(view, config, arguments.gpus);
  if (!gpus) return std::unexpected(gpus.error());
  view::ReasonOptions options;
  options.language = arguments.language;
  options.call_name = nvml::breadcrumb_name;
  JsonText json;
  json.begin_array();
  std::string lines;
  bool has_absent = false;
  for (const LatestLine& line : read_latest(view, *metrics, *gpus)) {
    options.instance = line.instance;
    const view::Reason reason = view::why(view, line.device, line.id, options);
    has_absent |= !reason.latest.is_ok();
    lines += line.device.label() + " " + metric_label(line) + ": " + reason.text + "\n";
    json.begin_object();
    append_latest(json, view, line);
    json.key("reason").string(reason.text);
    json.end_object();
  }
  json.end_array();
  if (lines.empty()) {
    has_absent = true;
    lines = say(arguments.language, Message::why_no_device) + "\n";
  }
  print(arguments.form == OutputForm::kJson ? json.take() + "\n" : lines);
  return has_absent ? kNeedsLook : kFine;
}

}  // namespace everywatt::app
