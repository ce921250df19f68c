// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/source.h"

#include <vector>

#include "device/nvml/source_tables.h"

namespace everywatt::nvml {
namespace {

using catalog::Lane;

std::vector<Source> join(std::initializer_list<std::span<const Source>> parts) {
  std::vector<Source> all;
  for (const std::span<const Source> part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

std::uint32_t period_ms(const Source& source) {
  return catalog::metric(source.metrics.front()).period_ms;
}

std::span<const Source> sources(Lane lane) {
  static const std::vector<Source> kSlow =
      join({slow_sources(), memory_error_sources(), link_sources()});
  static const std::vector<Source> kOnce = join({identity_sources(), limit_sources()});
  switch (lane) {
    case Lane::kGauge:
      return gauge_sources();
    case Lane::kSlow:
      return kSlow;
    case Lane::kOnce:
      return kOnce;
    default:
      return {};
  }
}

}  // namespace everywatt::nvml
