// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "app/commands.h"
#include "app/json_text.h"
#include "app/latest_lines.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/selection.h"
#include "app/shown_value.h"
#include "app/source.h"
#include "app/words.h"
#include "catalog/glossary.h"
#include "read/view/device.h"

namespace everywatt::app {
namespace {

using catalog::MetricId;

// What a view says about one GPU, as text for people; "-" for what is absent.
class Sheet {
 public:
  Sheet(const view::View& view, const view::Device& device) : view_(view), device_(device) {}

  std::string shown(MetricId id) const {
    const catalog::Metric& metric = catalog::metric(id);
    if (metric.type == catalog::Type::kText) {
      const std::string text = view_.text(device_.slot, id);
      return text.empty() ? "-" : text;
    }
    const auto number = view_.number(device_.slot, id);
    return number ? catalog::format_value(id, *number) : "-";
  }
  bool has(MetricId id) const { return view_.latest(device_.slot, id).is_ok(); }
  std::string line(Message label, const std::string& value) const {
    return fmt::format("  {}: {}\n", text(language, label), value);
  }

  Language language = Language::kEn;

 private:
  const view::View& view_;
  const view::Device& device_;
};

unsigned count_links_up(const view::View& view, const view::Device& device) {
  unsigned up = 0;
  for (unsigned link = 0; link < catalog::metric(MetricId::gpu_nvlink_state).instances; ++link) {
    if (view.number(device.slot, MetricId::gpu_nvlink_state, link) == 1.0) ++up;
  }
  return up;
}

std::string format_mig(const Sheet& sheet, const view::Device& device) {
  return fmt::format("  {}  {}  {}  {}\n", device.label(), sheet.shown(MetricId::gpu_mig_profile),
                     device.uuid, sheet.shown(MetricId::gpu_memory_total_bytes));
}

std::string format_gpu(const view::View& view, const Sheet& sheet, const view::Device& device) {
  std::string out = fmt::format("{}  {}  {}  {}\n", device.label(), device.name, device.uuid,
                                status_word(device.status, sheet.language));
  out += sheet.line(
      Message::sheet_bus,
      fmt::format("{}  PCIe gen {} x{} (max gen {} x{})  NUMA {}  minor {}",
                  sheet.shown(MetricId::gpu_pci_address),
                  sheet.shown(MetricId::gpu_pcie_link_generation),
                  sheet.shown(MetricId::gpu_pcie_link_width),
                  sheet.shown(MetricId::gpu_pcie_link_generation_max),
                  sheet.shown(MetricId::gpu_pcie_link_width_max),
                  sheet.shown(MetricId::gpu_numa_node), sheet.shown(MetricId::gpu_minor_number)));
  out += sheet.line(
      Message::sheet_chip,
      fmt::format("{}  sm_{}{}  {} SM  {} cores  {} bit", sheet.shown(MetricId::gpu_architecture),
                  sheet.shown(MetricId::gpu_compute_capability_major),
                  sheet.shown(MetricId::gpu_compute_capability_minor),
                  sheet.shown(MetricId::gpu_sm_count), sheet.shown(MetricId::gpu_cores),
                  sheet.shown(MetricId::gpu_memory_bus_width_bits)));
  out += sheet.line(Message::sheet_memory,
                    fmt::format("{}  BAR1 {}", sheet.shown(MetricId::gpu_memory_total_bytes),
                                sheet.shown(MetricId::gpu_bar1_total_bytes)));
  out +=
      sheet.line(Message::sheet_power,
                 fmt::format("{} ({} - {})", sheet.shown(MetricId::gpu_power_limit_default_watts),
                             sheet.shown(MetricId::gpu_power_limit_min_watts),
                             sheet.shown(MetricId::gpu_power_limit_max_watts)));
  out += sheet.line(
      Message::sheet_temperature,
      fmt::format("{} / {} / {}", sheet.shown(MetricId::gpu_temperature_slowdown_celsius),
                  sheet.shown(MetricId::gpu_temperature_shutdown_celsius),
                  sheet.shown(MetricId::gpu_temperature_memory_max_celsius)));
  out += sheet.line(Message::sheet_clocks,
                    fmt::format("SM {}  {} {}", sheet.shown(MetricId::gpu_sm_clock_max_hertz),
                                text(sheet.language, Message::sheet_memory_clock),
                                sheet.shown(MetricId::gpu_memory_clock_max_hertz)));
  out += sheet.line(Message::sheet_links,
                    sheet.has(MetricId::gpu_nvlink_links)
                        ? say(sheet.language, Message::sheet_links_up, count_links_up(view, device),
                              sheet.shown(MetricId::gpu_nvlink_links))
                        : "-");
  out += sheet.line(
      Message::sheet_driver,
      fmt::format("{}  NVML {}  CUDA {}  VBIOS {}", sheet.shown(MetricId::gpu_driver_version),
                  sheet.shown(MetricId::gpu_nvml_version), sheet.shown(MetricId::gpu_cuda_version),
                  sheet.shown(MetricId::gpu_vbios_version)));
  return out;
}

std::string format_text(const view::View& view, const std::vector<view::Device>& gpus,
                        Language language) {
  std::string out;
  for (const view::Device& device : gpus) {
    Sheet sheet(view, device);
    sheet.language = language;
    out += device.is_mig() ? format_mig(sheet, device) : format_gpu(view, sheet, device);
  }
  return out;
}

// All that is recorded about a GPU's identity and limits, under the metrics' names.
void append_constants(JsonText& json, const view::View& view, const view::Device& device) {
  std::vector<MetricId> ids;
  for (const MetricId id : catalog::schema(catalog::Scope::kGpu, catalog::Lane::kOnce).metrics) {
    if (catalog::metric(id).instances == 1) ids.push_back(id);
  }
  const std::vector<view::Device> only = {device};
  for (const LatestLine& line : read_latest(view, ids, only)) {
    if (!line.latest.is_ok()) continue;
    json.key(line.metric().name);
    if (line.metric().type == catalog::Type::kText) {
      json.string(line.text);
    } else {
      append_value(json, line.metric().type, line.latest.reading.bits);
    }
  }
}

void append_links(JsonText& json, const view::View& view, const view::Device& device) {
  json.key("nvlinks").begin_array();
  const double links = view.number(device.slot, MetricId::gpu_nvlink_links).value_or(0);
  for (unsigned link = 0; link < catalog::metric(MetricId::gpu_nvlink_state).instances; ++link) {
    const auto state = view.number(device.slot, MetricId::gpu_nvlink_state, link);
    if (!state && link >= links) continue;
    json.begin_object().key("link").number(link).key("up");
    if (state) {
      json.boolean(*state == 1.0);
    } else {
      json.null();  // the driver cannot tell of this one
    }
    if (const auto version = view.number(device.slot, MetricId::gpu_nvlink_version, link)) {
      json.key("version").number(*version);
    }
    if (const auto type = view.number(device.slot, MetricId::gpu_nvlink_remote_type, link)) {
      json.key("remote_type").number(*type);
    }
    json.end_object();
  }
  json.end_array();
}

std::string format_json(const view::View& view, const std::vector<view::Device>& gpus) {
  JsonText json;
  json.begin_object().key("gpus").begin_array();
  for (const view::Device& device : gpus) {
    json.begin_object();
    json.key("gpu").number(device.is_mig() ? device.parent_index : device.index);
    if (device.is_mig()) json.key("mig").number(device.index);
    json.key("uuid").string(device.uuid);
    json.key("status").string(view::status_name(device.status));
    append_constants(json, view, device);
    append_links(json, view, device);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

}  // namespace

base::Result<ExitCode> run_discover(const Arguments& arguments, const Config& config) {
  const auto source = open_source(arguments, config, NoDaemon::kReadOnce);
  if (!source) return std::unexpected(source.error());
  const auto gpus = select_gpus(*source->view, config, arguments.gpus);
  if (!gpus) return std::unexpected(gpus.error());
  if (gpus->empty()) {
    return base::fail(base::Code::kUnavailable, "no GPU on this machine",
                      "see the log of everywatt serve for what the driver said");
  }
  print(arguments.form == OutputForm::kJson
            ? format_json(*source->view, *gpus)
            : format_text(*source->view, *gpus, arguments.language));
  const bool all_fine = std::all_of(gpus->begin(), gpus->end(), [](const view::Device& device) {
    return device.status == view::DeviceStatus::kOk;
  });
  return all_fine ? kFine : kNeedsLook;
}

}  // namespace everywatt::app
