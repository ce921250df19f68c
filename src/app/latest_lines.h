// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/json_text.h"
#include "app/language.h"
#include "read/view/device.h"
#include "read/view/view.h"

namespace everywatt::app {

// One (device, metric, instance) with what a view says about it now.
struct LatestLine {
  view::Device device;
  catalog::MetricId id{};
  unsigned instance = 0;
  view::Latest latest;
  std::string text;  // of a text metric
  // The line is about this instance, not about all of them.
  bool names_instance = false;

  const catalog::Metric& metric() const { return catalog::metric(id); }
};

// A line for each metric of each device that has it. Of a metric with several instances those that
// are present or that the source fails to tell of beside them, or one line that says why none is.
std::vector<LatestLine> read_latest(const view::View& view,
                                    std::span<const catalog::MetricId> metrics,
                                    std::span<const view::Device> gpus);

// "gpu_fan_ratio{fan=1}".
std::string metric_label(const LatestLine& line);
// The value for people, or the reason why there is none.
std::string shown_value(const LatestLine& line, Language language);

// Members "gpu" or "device", "uuid", "metric", label, "state", "value", "unit", "time",
// "age_seconds", "window_seconds" of the open object.
void append_latest(JsonText& json, const view::View& view, const LatestLine& line);

}  // namespace everywatt::app
