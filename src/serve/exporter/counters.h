// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace everywatt::exporter {

// A family of DCGM's names.
struct Counter {
  catalog::MetricId metric{};
  std::string name;  // DCGM_FI_..., in the spelling that was asked for
  std::string type;  // "gauge" or "counter"
  std::string help;
};

// Constants of a GPU that each sample of DCGM's names carries.
struct ConstantLabel {
  catalog::MetricId metric{};
  std::string name;
};

struct Counters {
  std::vector<Counter> families;
  std::vector<ConstantLabel> labels;
};

// Everything of which the catalog knows DCGM's name, with the driver's version as label.
Counters all_counters();
// Of these, what DCGM's exporter exposes when nobody chooses.
Counters default_counters();

struct CountersReading {
  Counters counters;
  std::vector<std::string> skipped;  // one a line that says nothing to us: which, and why
};

// A counters file of DCGM's exporter: lines of "FIELD, type, help", '#' before what is off. A field
// is a DCGM_FI_... name in its old or new spelling, a type gauge, counter or label.
CountersReading parse_counters(std::string_view text);

}  // namespace everywatt::exporter
