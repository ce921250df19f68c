// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

#include "catalog/glossary.h"

namespace everywatt::catalog {
namespace {

struct Step {
  double size;
  std::string_view unit;
};
// Each from large to small; the last one takes what is smaller than all.
constexpr std::array kByteSteps{Step{0x1p40, "TiB"}, Step{0x1p30, "GiB"}, Step{0x1p20, "MiB"},
                                Step{0x1p10, "KiB"}, Step{1, "B"}};
constexpr std::array kRateSteps{Step{1e12, "TB/s"}, Step{1e9, "GB/s"}, Step{1e6, "MB/s"},
                                Step{1e3, "kB/s"}, Step{1, "B/s"}};
constexpr std::array kJouleSteps{Step{3.6e9, "MWh"}, Step{3.6e6, "kWh"}, Step{1e3, "kJ"},
                                 Step{1, "J"}};
constexpr std::array kHertzSteps{Step{1e9, "GHz"}, Step{1e6, "MHz"}, Step{1e3, "kHz"},
                                 Step{1, "Hz"}};
constexpr std::array kSecondSteps{Step{86400, "d"}, Step{3600, "h"},  Step{60, "min"}, Step{1, "s"},
                                  Step{1e-3, "ms"}, Step{1e-6, "us"}, Step{1e-9, "ns"}};

// Three digits, whole numbers as they are.
std::string format_number(double value) {
  const double size = std::abs(value);
  if (value == std::floor(value) && size < 1e6) return fmt::format("{:.0f}", value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return size >= 0.995 ? fmt::format("{:.2f}", value) : fmt::format("{:.3g}", value);
}

std::string format_steps(double value, std::span<const Step> steps) {
  if (value == 0) steps = steps.last(1);
  for (const Step& step : steps) {
    if (std::abs(value) >= step.size || &step == &steps.back()) {
      return fmt::format("{} {}", format_number(value / step.size), step.unit);
    }
  }
  return {};
}

}  // namespace

std::string format_value(MetricId id, double value) {
  if (id == MetricId::gpu_performance_state) return fmt::format("P{:.0f}", value);
  switch (metric(id).unit) {
    case Unit::kRatio:
      return fmt::format("{} %", format_number(value * 100));
    case Unit::kBytes:
      return format_steps(value, kByteSteps);
    case Unit::kBytesPerSecond:
      return format_steps(value, kRateSteps);
    case Unit::kWatts:
      return fmt::format("{} W", format_number(value));
    case Unit::kJoules:
      return format_steps(value, kJouleSteps);
    case Unit::kCelsius:
      return fmt::format("{} °C", format_number(value));
    case Unit::kHertz:
      return format_steps(value, kHertzSteps);
    case Unit::kSeconds:
      return value == 0 ? "0 s" : format_steps(value, kSecondSteps);
    case Unit::kCount:
      return format_number(value);
    case Unit::kNone:
      break;
  }
  if (metric(id).kind == Kind::kMask) {
    return fmt::format("{:#x}", static_cast<std::uint64_t>(value));
  }
  return fmt::format("{}", value);
}

}  // namespace everywatt::catalog
