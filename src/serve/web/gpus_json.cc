// SPDX-License-Identifier: Apache-2.0
#include "serve/web/gpus_json.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/text.h"
#include "read/view/processes.h"
#include "read/view/readiness.h"
#include "read/view/reasons.h"
#include "serve/web/value_json.h"

namespace everywatt::web {
namespace {

using catalog::Lane;
using catalog::Lang;
using catalog::MetricId;
using nlohmann::ordered_json;

constexpr std::size_t kShownBytes = 200;  // of text that the driver gave

bool is_reading_of_gpu(const catalog::Metric& metric) {
  return metric.scope == catalog::Scope::kGpu && metric.lane != Lane::kProcess &&
         metric.lane != Lane::kEvent && metric.lane != Lane::kPower;
}

std::vector<MetricId> usual_metrics() {
  std::vector<MetricId> ids;
  for (std::size_t place = 0; place < catalog::metrics().size(); ++place) {
    const catalog::Metric& metric = catalog::metrics()[place];
    if (is_reading_of_gpu(metric) && metric.instances == 1) {
      ids.push_back(static_cast<MetricId>(place));
    }
  }
  return ids;
}

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

ordered_json age_of(const view::View& view, std::int64_t time_ns) {
  if (time_ns == 0) return nullptr;
  return seconds(view.now_ns() - time_ns);
}

std::string_view absence_word(const view::Latest& latest, Lang language) {
  const bool is_chinese = language == Lang::kZh;
  if (latest.absence == view::Absence::kStale) return is_chinese ? "无新值" : "nothing new";
  if (latest.absence == view::Absence::kNoRows) return is_chinese ? "尚未记录" : "not recorded yet";
  if (latest.absence == view::Absence::kNoRing) {
    return catalog::state_word(catalog::State::kNotSupported, language);
  }
  return catalog::state_word(latest.reading.state, language);
}

ordered_json instances_json(const view::View& view, std::uint32_t slot, MetricId id) {
  ordered_json values = ordered_json::object();
  const catalog::Metric& metric = catalog::metric(id);
  for (unsigned instance = 0; instance < metric.instances; ++instance) {
    const view::Latest latest = view.latest(slot, id, instance);
    if (latest.is_ok()) {
      values[catalog::instance_name(id, instance)] =
          exact_value<ordered_json>(metric.type, latest.reading.bits);
    }
  }
  return values;
}

ordered_json reading_json(const view::View& view, std::uint32_t slot, MetricId id, Lang language) {
  const catalog::Metric& metric = catalog::metric(id);
  const view::Latest latest = view.latest(slot, id);
  ordered_json reading;
  reading["state"] = latest.is_ok() ? "ok" : view::absence_name(latest);
  if (!latest.is_ok()) {
    reading["value"] = nullptr;
    reading["word"] = absence_word(latest, language);
  } else if (metric.type == catalog::Type::kText) {
    reading["value"] = base::clean_text(view.text(slot, id), kShownBytes);
  } else if (metric.instances > 1) {
    reading["value"] = instances_json(view, slot, id);
  } else {
    reading["value"] = exact_value<ordered_json>(metric.type, latest.reading.bits);
  }
  if (metric.unit != catalog::Unit::kNone) reading["unit"] = catalog::unit_name(metric.unit);
  reading["age_seconds"] = age_of(view, latest.time_ns);
  return reading;
}

ordered_json processes_json(const view::View& view, std::uint32_t slot) {
  const view::Listing listing = view::list_processes(view, slot, view::Join::kDriverOnly);
  if (!listing.is_known()) return nullptr;
  ordered_json processes;
  processes["age_seconds"] = age_of(view, listing.time_ns);
  processes["unattributed_bytes"] = nullptr;
  if (listing.unattributed_bytes) processes["unattributed_bytes"] = *listing.unattributed_bytes;
  ordered_json& list = processes["list"] = ordered_json::array();
  for (const view::Process& process : listing.processes) {
    ordered_json& entry = list.emplace_back();
    entry["pid"] = process.pid;
    entry["type"] = process.type();
    entry["memory_bytes"] = nullptr;
    if (process.memory_bytes) entry["memory_bytes"] = *process.memory_bytes;
    entry["sm_ratio"] = nullptr;
    if (process.sm_ratio) entry["sm_ratio"] = *process.sm_ratio;
  }
  return processes;
}

ordered_json gpu_json(const view::View& view, const view::Device& gpu, const GpusQuery& query) {
  ordered_json json;
  json["gpu"] = gpu.is_mig() ? gpu.parent_index : gpu.index;
  if (gpu.is_mig()) json["mig"] = gpu.index;
  json["uuid"] = base::clean_text(gpu.uuid, kShownBytes);
  json["name"] = base::clean_text(gpu.name, kShownBytes);
  json["pci_address"] = base::clean_text(gpu.pci_address, kShownBytes);
  json["status"] = view::status_name(gpu.status);
  json["status_text"] = view::status_text(gpu.status, query.language);
  json["age_seconds"] = age_of(view, view::last_good_ns(view, gpu.slot, Lane::kGauge));
  ordered_json& readings = json["readings"] = ordered_json::object();
  for (const MetricId id : query.metrics) {
    readings[std::string(catalog::metric(id).name)] =
        reading_json(view, gpu.slot, id, query.language);
  }
  json["processes"] = processes_json(view, gpu.slot);
  return json;
}

}  // namespace

base::Result<GpusQuery> parse_gpus_query(const Target& target) {
  constexpr std::array<std::string_view, 2> kKnown = {"metric", "lang"};
  if (auto checked = check_parameters(target, kKnown); !checked) {
    return std::unexpected(checked.error());
  }
  GpusQuery query;
  if (const std::string* language = target.find("lang")) {
    if (*language != "en" && *language != "zh") {
      return base::fail(base::Code::kInvalidArgument, "lang is en or zh");
    }
    if (*language == "zh") query.language = Lang::kZh;
  }
  const std::string* names = target.find("metric");
  if (names == nullptr) {
    query.metrics = usual_metrics();
    return query;
  }
  for (const std::string_view name : base::split(*names, ',')) {
    const auto id = catalog::find_metric(name);
    if (!id) return std::unexpected(id.error());
    if (!is_reading_of_gpu(catalog::metric(*id))) {
      return base::fail(base::Code::kInvalidArgument,
                        fmt::format("{} is no reading of a GPU", catalog::metric(*id).name));
    }
    query.metrics.push_back(*id);
  }
  return query;
}

std::string format_gpus(const view::View& view, const GpusQuery& query, const std::string& note) {
  ordered_json json;
  json["time"] = base::format_time(view.wall_ns(view.now_ns()));
  json["note"] = note;
  ordered_json& not_ready = json["not_ready"] = ordered_json::array();
  for (const view::NotReady& entry : view::find_not_ready(view)) {
    not_ready.push_back({{"what", entry.what}, {"reason", entry.reason}});
  }
  ordered_json& gpus = json["gpus"] = ordered_json::array();
  for (const view::Device& gpu : view::present_gpus(view))
    gpus.push_back(gpu_json(view, gpu, query));
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace everywatt::web
