// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/commands.h"
#include "app/json_text.h"
#include "app/latest_lines.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/process_table.h"
#include "app/selection.h"
#include "app/shown_value.h"
#include "app/source.h"
#include "app/table.h"
#include "app/words.h"
#include "base/clock.h"
#include "catalog/glossary.h"

namespace everywatt::app {
namespace {

using catalog::MetricId;

constexpr MetricId kColumns[] = {
    MetricId::gpu_utilization_ratio,
    MetricId::gpu_sm_active_ratio,
    MetricId::gpu_memory_used_bytes,
    MetricId::gpu_memory_total_bytes,
    MetricId::gpu_power_watts,
    MetricId::gpu_power_limit_enforced_watts,
    MetricId::gpu_temperature_celsius,
    MetricId::gpu_sm_clock_hertz,
    MetricId::gpu_clock_event_reasons_mask,
};

std::string shown(const view::View& view, const view::Device& device, MetricId id) {
  const auto number = view.number(device.slot, id);
  return number ? catalog::format_value(id, *number) : "-";
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string format_heading(const view::View& view, const std::vector<view::Device>& gpus,
                           Language language) {
  const std::uint32_t slot = gpus.front().slot;
  return fmt::format("everywatt {}  {}  {} {}  CUDA {}\n", EVERYWATT_VERSION,
                     base::format_time(view.wall_ns(view.now_ns())),
                     text(language, Message::sheet_driver),
                     or_dash(view.text(slot, MetricId::gpu_driver_version)),
                     or_dash(view.text(slot, MetricId::gpu_cuda_version)));
}

std::string format_gpus(const view::View& view, const std::vector<view::Device>& gpus,
                        Language language) {
  Table table({{say(language, Message::heading_gpu)},
               {say(language, Message::heading_name)},
               {say(language, Message::heading_utilization), Align::kRight},
               {"SM", Align::kRight},
               {say(language, Message::heading_memory), Align::kRight},
               {say(language, Message::heading_power), Align::kRight},
               {say(language, Message::heading_temperature), Align::kRight},
               {say(language, Message::heading_clock), Align::kRight},
               {say(language, Message::heading_status)}});
  for (const view::Device& gpu : gpus) {
    const auto of = [&](MetricId id) { return shown(view, gpu, id); };
    table.add({gpu.label(), gpu.name, of(MetricId::gpu_utilization_ratio),
               of(MetricId::gpu_sm_active_ratio),
               of(MetricId::gpu_memory_used_bytes) + " / " + of(MetricId::gpu_memory_total_bytes),
               of(MetricId::gpu_power_watts) + " / " + of(MetricId::gpu_power_limit_enforced_watts),
               of(MetricId::gpu_temperature_celsius), of(MetricId::gpu_sm_clock_hertz),
               status_word(gpu.status, language)});
  }
  return table.format(stdout_emphasis());
}

std::string format_json(const view::View& view, const std::vector<view::Device>& gpus) {
  JsonText json;
  json.begin_object();
  json.key("time").string(base::format_time(view.wall_ns(view.now_ns())));
  json.key("gpus").begin_array();
  for (const view::Device& gpu : gpus) {
    json.begin_object();
    json.key("gpu").number(gpu.is_mig() ? gpu.parent_index : gpu.index);
    if (gpu.is_mig()) json.key("mig").number(gpu.index);
    json.key("uuid").string(gpu.uuid).key("name").string(gpu.name);
    json.key("status").string(view::status_name(gpu.status));
    const std::vector<view::Device> only = {gpu};
    for (const LatestLine& line : read_latest(view, kColumns, only)) {
      json.key(line.metric().name);
      if (line.latest.is_ok()) {
        append_value(json, line.metric().type, line.latest.reading.bits);
      } else {
        json.null();
      }
    }
    json.end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

}  // namespace

base::Result<ExitCode> run_overview(const Arguments& arguments, const Config& config) {
  const auto source = open_source(arguments, config, NoDaemon::kReadOnce);
  if (!source) return std::unexpected(source.error());
  const view::View& view = *source->view;
  const std::vector<view::Device> gpus = view::present_gpus(view);
  if (gpus.empty()) {
    return base::fail(base::Code::kUnavailable, "no GPU on this machine",
                      "see what the simulation shows: everywatt serve --demo all");
  }
  if (arguments.form == OutputForm::kJson) {
    print(format_json(view, gpus));
  } else {
    print(format_heading(view, gpus, arguments.language) +
          format_gpus(view, gpus, arguments.language) + "\n" +
          format_processes(list_all(view, gpus), arguments.language));
  }
  for (const view::Device& gpu : gpus) {
    if (gpu.status != view::DeviceStatus::kOk) return kNeedsLook;
  }
  return kFine;
}

}  // namespace everywatt::app
