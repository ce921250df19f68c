// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "read/view/device.h"
#include "read/view/view.h"
#include "serve/exporter/counters.h"

namespace everywatt::exporter {

// A device with its labels as they are written before each of its samples.
struct Target {
  view::Device device;
  std::string labels;  // gpu="0",uuid="GPU-..."; disk="sda"; part="sampler"; empty for the machine
  std::string dcgm_labels;  // GPUs and MIG instances only
  // GPUs and the machine: `labels` and their constants.
  std::string info_labels;
  std::vector<std::string> link_labels;  // the same for each NVLink with a known other end
  // By the metrics' order in the table; a metric of another scope has no ring.
  std::vector<view::Handle> handles;

  const view::Handle& handle(catalog::MetricId id) const {
    return handles[static_cast<std::size_t>(id)];
  }
};

// What does not change from one encoding to the next: devices, labels, where readings are.
struct Plan {
  std::vector<Target> targets;  // by scope, then in order of index
};
std::string make_info_labels(const view::View& view, const Target& target);
std::vector<std::string> make_link_labels(const view::View& view, const Target& target);
// `labels`: constants beside the identity in dcgm_labels.
Plan make_plan(const view::View& view, const std::string& hostname,
               std::span<const ConstantLabel> labels);

}  // namespace everywatt::exporter
