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

void append_scope(const View& view, const Plan& plan, Scope scope, std::string_view prefix,
                  Exposition& out) {
  for (const Target& target : plan.targets) {
    if (target.device.scope != scope) continue;
    out.sample().labels(target.labels);
    for (const MetricId id : info_metrics(scope)) {
      const std::string text = constant_text(view, target, id);
      if (!text.empty()) out.label(label_name(catalog::metric(id), prefix), text);
    }
    out.value(std::uint64_t{1});
  }
}

void append_links(const View& view, const Plan& plan, Exposition& out) {
  constexpr auto kRemote = MetricId::gpu_nvlink_remote_address;
  out.begin_family("gpu_nvlink_info", "gauge", "What is at the other end of each NVLink.");
  for (const Target& target : plan.targets) {
    if (target.device.scope != Scope::kGpu) continue;
    for (unsigned link = 0; link < catalog::metric(kRemote).instances; ++link) {
      const std::string address = view.text(target.device.slot, kRemote, link);
      if (address.empty()) continue;
      out.sample().labels(target.labels).label("link", fmt::format("{}", link));
      out.label("remote_address", address).value(std::uint64_t{1});
    }
  }
}

}  // namespace

void append_info(const View& view, const Plan& plan, Exposition& out) {
  out.begin_family("gpu_info", "gauge", "Constants of a GPU or MIG instance, as labels.");
  append_scope(view, plan, Scope::kGpu, "gpu_", out);
  append_links(view, plan, out);
  out.begin_family("gpu_up", "gauge", "1: the GPU can be read now.");
  for (const Target& target : plan.targets) {
    if (target.device.scope != Scope::kGpu) continue;
    const bool is_up = target.device.status == view::DeviceStatus::kOk;
    out.sample().labels(target.labels).value(std::uint64_t{is_up ? 1u : 0u});
  }
  out.begin_family("host_info", "gauge", "Constants of the machine, as labels.");
  append_scope(view, plan, Scope::kNode, "host_", out);
}

}  // namespace everywatt::exporter
