// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace everywatt::sampler {
namespace {

using catalog::MetricId;
using catalog::Row;
using catalog::State;

constexpr std::size_t kNamed = 3;

bool any_in_state(const Row& row, MetricId id, State state) {
  for (unsigned i = 0; i < catalog::metric(id).instances; ++i) {
    if (row.state(id, i) == state) return true;
  }
  return false;
}

}  // namespace

std::vector<MetricId> find_lost_metrics(const Row& before, const Row& now) {
  std::vector<MetricId> lost;
  for (const MetricId id : catalog::schema(now.scope(), now.lane()).metrics) {
    if (any_in_state(before, id, State::kOk) && !any_in_state(now, id, State::kOk) &&
        any_in_state(now, id, State::kNotSupported)) {
      lost.push_back(id);
    }
  }
  return lost;
}

std::string name_metrics(const std::vector<MetricId>& metrics) {
  std::string names;
  for (std::size_t i = 0; i < std::min(metrics.size(), kNamed); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", catalog::metric(metrics[i]).name);
  }
  if (metrics.size() > kNamed) names += fmt::format(" and {} more", metrics.size() - kNamed);
  return names;
}

unsigned count_values(const Row& row) {
  static_assert(static_cast<unsigned>(State::kOk) == 1);
  constexpr std::uint64_t kLowBits = 0x1111'1111'1111'1111;
  unsigned count = 0;
  for (const std::uint64_t word : row.states()) {
    const std::uint64_t higher = (word >> 1) | (word >> 2) | (word >> 3);
    count += static_cast<unsigned>(std::popcount(word & ~higher & kLowBits));
  }
  return count;
}

}  // namespace everywatt::sampler
