// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/config.h"
#include "base/result.h"
#include "catalog/catalog.h"
#include "read/view/device.h"

// What the words METRIC and GPU on the command line mean.
namespace everywatt::app {

// kInvalidArgument names the first word that is no metric, and the nearest that is.
base::Result<std::vector<catalog::MetricId>> find_metrics(std::span<const std::string> words);

// The GPUs and MIG instances that the words mean, each once, in the view's order; all when there
// are none. A word @name means those of the configuration's group. kInvalidArgument names what
// there is.
base::Result<std::vector<view::Device>> select_gpus(const view::View& view, const Config& config,
                                                    std::span<const std::string> words);

// The devices that have this metric: of the selected GPUs, or all of its other scope.
std::vector<view::Device> devices_with(const view::View& view, catalog::MetricId id,
                                       std::span<const view::Device> gpus);

}  // namespace everywatt::app
