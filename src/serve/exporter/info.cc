// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "serve/exporter/samples.h"

namespace everywatt::exporter {
namespace {

using catalog::Metric;
using catalog::MetricId;
using catalog::Scope;
using catalog::Type;
using view::View;

std::string constant_text(const View& view, const Target& target, MetricId id) {
  if (catalog::metric(id).type == Type::kText) return view.text(target.device.slot, id);
  const view::Latest latest = view.latest(target.handle(id));
  if (!latest.is_ok()) return {};
  return catalog::metric(id).type == Type::kI64 ? fmt::format("{}", latest.reading.i64())
                                                : fmt::format("{}", latest.reading.u64());
}

// "gpu_vbios_version" -> "vbios_version": the family says the rest.
std::string_view label_name(const Metric& metric, std::string_view prefix) {
  std::string_view name = metric.name;
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

}  // namespace

std::string make_info_labels(const View& view, const Target& target) {
  const Scope scope = target.device.scope;
  const std::string_view prefix = scope == Scope::kGpu ? "gpu_" : "host_";
  std::string labels = target.labels;
  for (const MetricId id : info_metrics(scope)) {
    const std::string text = constant_text(view, target, id);
    if (text.empty()) continue;
    labels = join_labels(labels, format_label(label_name(catalog::metric(id), prefix), text));
  }
  return labels;
}

std::vector<std::string> make_link_labels(const View& view, const Target& target) {
  constexpr auto kRemote = MetricId::gpu_nvlink_remote_address;
  const Metric& metric = catalog::metric(kRemote);
  std::vector<std::string> links;
  catalog::Row row(metric.scope, metric.lane);
  if (target.device.scope != Scope::kGpu) return links;
  if (!view.newest_row(target.device.slot, metric.lane, row)) return links;
  for (unsigned link = 0; link < metric.instances; ++link) {
    const std::string_view address = row.text(kRemote, link);
    if (address.empty()) continue;
    links.push_back(
        join_labels(target.labels, join_labels(format_label("link", fmt::format("{}", link)),
                                               format_label("remote_address", address))));
  }
  return links;
}

void append_info(const Plan& plan, Exposition& out) {
  const auto append = [&](Scope scope) {
    for (const Target& target : plan.targets) {
      if (target.device.scope != scope) continue;
      out.sample().labels(target.info_labels).value(std::uint64_t{1});
    }
  };
  out.begin_family("gpu_info", "info", "Constants of a GPU or MIG instance, as labels.");
  append(Scope::kGpu);
  out.begin_family("gpu_nvlink_info", "info", "What is at the other end of each NVLink.");
  for (const Target& target : plan.targets) {
    for (const std::string& link : target.link_labels) {
      out.sample().labels(link).value(std::uint64_t{1});
    }
  }
  out.begin_family("gpu_up", "gauge", "1: the GPU can be read now.");
  for (const Target& target : plan.targets) {
    if (target.device.scope != Scope::kGpu) continue;
    const bool is_up = target.device.status == view::DeviceStatus::kOk;
    out.sample().labels(target.labels).value(std::uint64_t{is_up ? 1u : 0u});
  }
  out.begin_family("host_info", "info", "Constants of the machine, as labels.");
  append(Scope::kNode);
}

}  // namespace everywatt::exporter
