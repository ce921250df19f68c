// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/json_text.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/process_table.h"
#include "app/selection.h"
#include "app/source.h"
#include "base/clock.h"

namespace everywatt::app {
namespace {

template <typename T>
void append_optional(JsonText& json, const char* key, const std::optional<T>& value) {
  json.key(key);
  if (value) {
    json.number(*value);
  } else {
    json.null();
  }
}

void append_text(JsonText& json, const char* key, const std::string& value) {
  if (!value.empty()) json.key(key).string(value);
}

void append_identity(JsonText& json, const view::Identity& identity) {
  append_text(json, "user", identity.user);
  if (identity.uid) json.key("uid").number(*identity.uid);
  append_text(json, "command", identity.command);
  if (identity.start_seconds) json.key("start_seconds").number(*identity.start_seconds);
  append_text(json, "cgroup", identity.cgroup);
  append_text(json, "container", identity.container);
  append_text(json, "runtime", identity.runtime);
  append_text(json, "pod_uid", identity.pod_uid);
  append_text(json, "slurm_job", identity.slurm_job);
  append_text(json, "unit", identity.unit);
}

void append_host_use(JsonText& json, const view::HostUse& use) {
  json.key("host").begin_object();
  json.key("state").string(std::string(1, use.state));
  append_optional(json, "cpu_cores", use.cpu_cores);
  append_optional(json, "children_cpu_cores", use.children_cpu_cores);
  append_optional(json, "threads", use.threads);
  append_optional(json, "children", use.children);
  append_optional(json, "resident_bytes", use.resident_bytes);
  append_optional(json, "children_resident_bytes", use.children_resident_bytes);
  append_optional(json, "read_bytes_per_second", use.read_bytes_per_second);
  append_optional(json, "written_bytes_per_second", use.written_bytes_per_second);
  json.end_object();
}

void append_process(JsonText& json, const view::Process& process) {
  json.begin_object();
  json.key("pid").number(process.pid);
  json.key("type").string(process.type());
  append_optional(json, "memory_bytes", process.memory_bytes);
  append_optional(json, "sm_ratio", process.sm_ratio);
  append_optional(json, "memory_controller_ratio", process.memory_controller_ratio);
  append_optional(json, "encoder_ratio", process.encoder_ratio);
  append_optional(json, "decoder_ratio", process.decoder_ratio);
  if (process.identity) append_identity(json, *process.identity);
  if (process.host) append_host_use(json, *process.host);
  json.end_object();
}

std::string format_json(const view::View& view, const std::vector<GpuListing>& listings) {
  JsonText json;
  json.begin_object().key("gpus").begin_array();
  for (const GpuListing& gpu : listings) {
    json.begin_object();
    json.key("gpu").number(gpu.device.is_mig() ? gpu.device.parent_index : gpu.device.index);
    if (gpu.device.is_mig()) json.key("mig").number(gpu.device.index);
    json.key("uuid").string(gpu.device.uuid);
    if (gpu.listing.is_known()) {
      json.key("time").string(base::format_time(view.wall_ns(gpu.listing.time_ns)));
    }
    json.key("known").boolean(gpu.listing.is_known());
    json.key("processes").begin_array();
    for (const view::Process& process : gpu.listing.processes) {
      append_process(json, process);
    }
    json.end_array();
    append_optional(json, "unattributed_bytes", gpu.listing.unattributed_bytes);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

}  // namespace

base::Result<ExitCode> run_processes(const Arguments& arguments, const Config& config) {
  const auto source = open_source(arguments, config, NoDaemon::kReadOnce);
  if (!source) return std::unexpected(source.error());
  const auto gpus = select_gpus(*source->view, config, arguments.gpus);
  if (!gpus) return std::unexpected(gpus.error());
  const std::vector<GpuListing> listings = list_all(*source->view, *gpus);
  print(arguments.form == OutputForm::kJson ? format_json(*source->view, listings)
                                            : format_processes(listings, arguments.language));
  for (const GpuListing& gpu : listings) {
    if (!gpu.listing.is_known()) return kNeedsLook;
  }
  return listings.empty() ? kNeedsLook : kFine;
}

}  // namespace everywatt::app
