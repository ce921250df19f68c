// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "serve/exporter/exposition.h"

namespace everywatt::exporter {
namespace {

using catalog::MetricId;
using catalog::Scope;
using view::Device;
using view::View;

std::string number_text(const View& view, std::uint32_t slot, MetricId id) {
  const view::Latest latest = view.latest(slot, id);
  return latest.is_ok() ? fmt::format("{}", latest.reading.u64()) : std::string();
}

// "": not known.
std::string constant_text(const View& view, std::uint32_t slot, MetricId id) {
  if (catalog::metric(id).type == catalog::Type::kText) return view.text(slot, id);
  const view::Latest latest = view.latest(slot, id);
  if (!latest.is_ok()) return {};
  return fmt::format("{}", catalog::as_double(id, latest.reading) * catalog::metric(id).dcgm_scale);
}

void append_label(std::string& labels, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  labels = join_labels(labels, format_label(name, value));
}

std::string gpu_labels(const View& view, const Device& device) {
  std::string labels;
  append_label(labels, "gpu",
               fmt::format("{}", device.is_mig() ? device.parent_index : device.index));
  append_label(labels, "uuid", device.uuid);
  if (device.is_mig()) {
    append_label(labels, "gpu_instance",
                 number_text(view, device.slot, MetricId::gpu_mig_gpu_instance));
    append_label(labels, "compute_instance",
                 number_text(view, device.slot, MetricId::gpu_mig_compute_instance));
  }
  return labels;
}

// Names, order and cases as DCGM's exporter writes them: a MIG instance shows its GPU's identity.
std::string dcgm_labels(const View& view, const Device& device, const Device& gpu,
                        const std::string& hostname, std::span<const ConstantLabel> constants) {
  std::string labels;
  append_label(labels, "gpu", fmt::format("{}", gpu.index));
  append_label(labels, "UUID", gpu.uuid);
  append_label(labels, "pci_bus_id", gpu.pci_address);
  const std::string minor = number_text(view, gpu.slot, MetricId::gpu_minor_number);
  append_label(labels, "device",
               minor.empty() ? fmt::format("nvidia{}", gpu.index) : fmt::format("nvidia{}", minor));
  append_label(labels, "modelName", gpu.name);
  if (device.is_mig()) {
    append_label(labels, "GPU_I_PROFILE", view.text(device.slot, MetricId::gpu_mig_profile));
    append_label(labels, "GPU_I_ID",
                 number_text(view, device.slot, MetricId::gpu_mig_gpu_instance));
  }
  append_label(labels, "Hostname", hostname);
  for (const ConstantLabel& label : constants) {
    append_label(labels, label.name, constant_text(view, gpu.slot, label.metric));
  }
  return labels;
}

std::string other_labels(const Device& device) {
  switch (device.scope) {
    case Scope::kDisk:
      return format_label("disk", device.name);
    case Scope::kInterface:
      return format_label("interface", device.name);
    case Scope::kInfiniband:
      return format_label("port", device.name);
    case Scope::kPart:
      return format_label("part", device.name);
    case Scope::kGpu:
    case Scope::kNode:
      return {};
  }
  return {};
}

// GPUs that failed before they could be identified look the same. A scraper refuses all of a text
// in which one label set comes twice, so one of them stands for them.
bool is_told_apart(const Plan& plan, const Target& target) {
  return std::ranges::none_of(plan.targets, [&target](const Target& other) {
    return other.device.scope == target.device.scope && other.labels == target.labels;
  });
}

// Devices without a name or identity cannot be told apart: two samples would have one label set.
// A GPU has its place, an instance has nothing: its slot is between the one that was there and the
// one that comes.
bool is_nameless(const Device& device) {
  if (device.is_mig()) return device.uuid.empty();
  const bool has_place = device.scope == Scope::kGpu || device.scope == Scope::kNode;
  return !has_place && device.name.empty();
}

Target make_target(const View& view, const Device& device, const std::vector<Device>& gpus,
                   const std::string& hostname, std::span<const ConstantLabel> constants) {
  Target target;
  target.device = device;
  if (device.scope == Scope::kGpu) {
    const auto gpu = std::ranges::find(gpus, device.parent.value_or(device.slot), &Device::slot);
    target.labels = gpu_labels(view, device);
    if (gpu != gpus.end()) {
      target.dcgm_labels = dcgm_labels(view, device, *gpu, hostname, constants);
    }
  } else {
    target.labels = other_labels(device);
  }
  const std::size_t metrics = catalog::metrics().size();
  for (std::size_t id = 0; id < metrics; ++id) {
    target.handles.push_back(view.handle(device.slot, static_cast<MetricId>(id)));
  }
  target.info_labels = make_info_labels(view, target);
  target.link_labels = make_link_labels(view, target);
  return target;
}

}  // namespace

Plan make_plan(const View& view, const std::string& hostname,
               std::span<const ConstantLabel> labels) {
  Plan plan;
  const std::vector<Device> gpus = view::gpus(view);
  for (unsigned scope = 0; scope < catalog::kScopeCount; ++scope) {
    for (const Device& device : view::devices(view, static_cast<Scope>(scope))) {
      if (device.status == view::DeviceStatus::kGone || is_nameless(device)) continue;
      Target target = make_target(view, device, gpus, hostname, labels);
      if (is_told_apart(plan, target)) plan.targets.push_back(std::move(target));
    }
  }
  return plan;
}

}  // namespace everywatt::exporter
