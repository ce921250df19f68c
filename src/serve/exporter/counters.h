// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace everywatt::exporter {

// What DCGM's exporter works out itself, beside what it reads.
enum class Computed : std::uint8_t {
  kNo,
  kClockEvents,  // DCGM_EXP_CLOCK_EVENTS_COUNT
  kXids,         // DCGM_EXP_XID_ERRORS_COUNT
};

// A family of DCGM's names.
struct Counter {
  catalog::MetricId metric{};  // what it is read from, or worked out from
  Computed computed = Computed::kNo;
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

// Everything of which the catalog knows DCGM's name, with the driver's version as label. What is
// worked out is there only if a file names it, as with DCGM's exporter.
Counters all_counters();
// Of these, what DCGM's exporter exposes when nobody chooses.
Counters default_counters();

struct CountersReading {
  Counters counters;
  std::vector<std::string> skipped;  // one a line that says nothing to us: which, and why
};

// A counters file of DCGM's exporter: lines of "FIELD, type, help", '#' before what is off. A field
// is a DCGM_FI_... name in its old or new spelling, or a DCGM_EXP_... name; a type is gauge,
// counter or label. What is worked out over a window is a gauge, whatever the file says: it falls.
CountersReading parse_counters(std::string_view text);

}  // namespace everywatt::exporter
