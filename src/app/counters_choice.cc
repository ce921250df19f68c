// SPDX-License-Identifier: Apache-2.0
#include "app/counters_choice.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"

namespace everywatt::app {

base::Result<exporter::CountersReading> choose_counters(const Config& config) {
  if (config.counters.empty()) return exporter::CountersReading{exporter::all_counters(), {}};
  if (config.counters == "default") {
    return exporter::CountersReading{exporter::default_counters(), {}};
  }
  const auto text = base::read_file(config.counters);
  if (!text) return std::unexpected(text.error());
  exporter::CountersReading reading = exporter::parse_counters(*text);
  if (reading.counters.families.empty()) {
    return base::fail(
        base::Code::kInvalidArgument,
        fmt::format("{}: no counter in it is recorded", base::clean_text(config.counters, 200)),
        reading.skipped.empty() ? "" : reading.skipped.front());
  }
  return reading;
}

}  // namespace everywatt::app
