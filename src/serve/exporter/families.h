// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace everywatt::exporter {

// Metrics that share one name in our own expositions, told apart by labels.
struct Family {
  std::string_view name;
  std::string_view type;  // "gauge", "counter", "histogram"
  std::string_view help;
  catalog::Scope scope{};
  std::vector<catalog::MetricId> members;

  bool is_histogram() const { return type == "histogram"; }
};

// The families of numbers, in the order of the table. Not in them: text and identifiers (they are
// labels of an `_info`), masks (they are derived), rows of processes and events, and the driver's
// power buffer, whose samples the histogram counts.
std::vector<Family> make_families();

// Constants that identify a device of the scope: the labels of its `_info`.
std::vector<catalog::MetricId> info_metrics(catalog::Scope scope);

}  // namespace everywatt::exporter
