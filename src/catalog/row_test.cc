// SPDX-License-Identifier: Apache-2.0
#include "catalog/row.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

namespace everywatt::catalog {
namespace {

using testing::Each;

TEST(RowTest, AnUntouchedRowWasNotRead) {
  const Row row(Scope::kGpu, Lane::kGauge);
  EXPECT_EQ(row.state(MetricId::gpu_power_watts), State::kNotRead);
  EXPECT_EQ(row.reading(MetricId::gpu_power_watts), Reading::absent(State::kNotRead));
  EXPECT_THAT(row.states(), Each(0u));
  EXPECT_EQ(row.cells().size(), schema(Scope::kGpu, Lane::kGauge).cells);
  EXPECT_EQ(row.states().size(), state_words(row.cells().size()));
}

TEST(RowTest, EachTypeComesBackAsItWasSet) {
  Row gauges(Scope::kGpu, Lane::kGauge);
  gauges.set(MetricId::gpu_power_watts, 678.25);
  gauges.set(MetricId::gpu_memory_used_bytes, std::uint64_t{150'754'820'096});
  EXPECT_EQ(gauges.reading(MetricId::gpu_power_watts).f64(), 678.25);
  EXPECT_EQ(gauges.reading(MetricId::gpu_memory_used_bytes).u64(), 150'754'820'096u);

  Row identity(Scope::kGpu, Lane::kOnce);
  identity.set(MetricId::gpu_numa_node, std::int64_t{-1});
  identity.set_text(MetricId::gpu_name, "NVIDIA H200");
  EXPECT_EQ(identity.reading(MetricId::gpu_numa_node).i64(), -1);
  EXPECT_EQ(identity.text(MetricId::gpu_name), "NVIDIA H200");
  EXPECT_TRUE(identity.reading(MetricId::gpu_name).is_ok());
}

TEST(RowTest, StatesShareWordsOfSixteenWithTheFirstCellLowest) {
  Row row(Scope::kGpu, Lane::kSlow);
  const MetricId id = MetricId::gpu_nvlink_state;
  row.set(id, std::uint64_t{1}, 3);
  row.set_reading(id, Reading::absent(State::kInvalid), 17);
  const unsigned first = column(id).first_cell;
  const auto nibble = [&](unsigned cell) {
    return (row.states()[cell / kStatesPerWord] >> (cell % kStatesPerWord * 4)) & 15u;
  };
  EXPECT_EQ(nibble(first + 3), static_cast<unsigned>(State::kOk));
  EXPECT_EQ(nibble(first + 17), static_cast<unsigned>(State::kInvalid));
  EXPECT_EQ(nibble(first + 4), 0u);
  EXPECT_EQ(row.state(id, 3), State::kOk);
  EXPECT_EQ(row.state(id, 17), State::kInvalid);
}

TEST(RowTest, NeighboursKeepTheirStateWhenOneChanges) {
  Row row(Scope::kGpu, Lane::kGauge);
  row.set_all_absent(State::kTimedOut);
  row.set(MetricId::gpu_power_watts, 1.0);
  row.set_reading(MetricId::gpu_power_watts, Reading::absent(State::kLost));
  for (const MetricId id : schema(Scope::kGpu, Lane::kGauge).metrics) {
    EXPECT_EQ(row.state(id), id == MetricId::gpu_power_watts ? State::kLost : State::kTimedOut);
  }
}

TEST(RowTest, WhatIsAbsentHoldsNoValue) {
  Row row(Scope::kGpu, Lane::kGauge);
  row.set(MetricId::gpu_power_watts, 700.0);
  row.set_absent(MetricId::gpu_power_watts, State::kNotSupported);
  EXPECT_EQ(row.cells()[column(MetricId::gpu_power_watts).first_cell], 0u);
  EXPECT_EQ(row.reading(MetricId::gpu_power_watts), Reading::absent(State::kNotSupported));
}

TEST(RowTest, AReasonForAMetricHoldsForAllItsInstances) {
  Row row(Scope::kGpu, Lane::kSlow);
  row.set_absent(MetricId::gpu_nvlink_state, State::kNotSupported);
  for (unsigned link = 0; link < 18; ++link) {
    EXPECT_EQ(row.state(MetricId::gpu_nvlink_state, link), State::kNotSupported);
  }
  EXPECT_EQ(row.state(MetricId::gpu_nvlink_version), State::kNotRead);
}

TEST(RowTest, TextIsCutAtItsWidthOnACharacterBorder) {
  Row row(Scope::kGpu, Lane::kOnce);
  // Architecture has 16 bytes: five characters of three bytes fit, the sixth does not.
  row.set_text(MetricId::gpu_architecture, "显卡架构名称");
  EXPECT_EQ(row.text(MetricId::gpu_architecture), "显卡架构名");
  row.set_text(MetricId::gpu_architecture, "0123456789abcdefXYZ");
  EXPECT_EQ(row.text(MetricId::gpu_architecture), "0123456789abcdef");
  EXPECT_EQ(row.text(MetricId::gpu_driver_version), "");
}

TEST(RowTest, AShorterTextLeavesNothingOfALongerOne) {
  Row row(Scope::kGpu, Lane::kOnce);
  row.set_text(MetricId::gpu_name, "NVIDIA A100-SXM4-80GB");
  row.set_text(MetricId::gpu_name, "T4");
  EXPECT_EQ(row.text(MetricId::gpu_name), "T4");
  row.set_text(MetricId::gpu_name, "");
  EXPECT_EQ(row.text(MetricId::gpu_name), "");
  EXPECT_EQ(row.state(MetricId::gpu_name), State::kOk);
}

TEST(RowTest, TextIsCleaned) {
  Row row(Scope::kNode, Lane::kIdentity);
  row.set_text(MetricId::identity_command, "python\x1b[2J\ntrain.py\xff");
  EXPECT_EQ(row.text(MetricId::identity_command), "python [2J train.py\xef\xbf\xbd");
}

TEST(RowTest, TextsOfInstancesLieSideBySide) {
  Row row(Scope::kGpu, Lane::kOnce);
  row.set_text(MetricId::gpu_nvlink_remote_address, "00000000:07:00.0", 0);
  row.set_text(MetricId::gpu_nvlink_remote_address, "00000000:08:00.0", 17);
  EXPECT_EQ(row.text(MetricId::gpu_nvlink_remote_address, 0), "00000000:07:00.0");
  EXPECT_EQ(row.text(MetricId::gpu_nvlink_remote_address, 17), "00000000:08:00.0");
  EXPECT_EQ(row.text(MetricId::gpu_nvlink_remote_address, 1), "");
}

TEST(RowTest, ClearForgetsValuesStatesAndTimes) {
  Row row(Scope::kGpu, Lane::kGauge);
  row.set(MetricId::gpu_power_watts, 700.0);
  row.time_ns = row.window_start_ns = row.window_end_ns = 5;
  row.clear();
  EXPECT_THAT(row.cells(), Each(0u));
  EXPECT_THAT(row.states(), Each(0u));
  EXPECT_EQ(row.time_ns, 0);
  EXPECT_EQ(row.window_start_ns, 0);
  EXPECT_EQ(row.window_end_ns, 0);
}

TEST(RowTest, AStateThatThisVersionDoesNotKnowIsAFailure) {
  Row row(Scope::kGpu, Lane::kPower);
  row.mutable_states()[0] = 15;
  EXPECT_EQ(row.state(MetricId::gpu_power_sample_watts), State::kFailed);
}

TEST(RowDeathTest, MisuseStopsTheProgram) {
  Row row(Scope::kGpu, Lane::kGauge);
  EXPECT_DEATH(row.set(MetricId::gpu_power_watts, std::uint64_t{1}), "check failed");
  EXPECT_DEATH(row.set(MetricId::gpu_energy_joules_total, 1.0), "check failed");
  EXPECT_DEATH(row.set(MetricId::gpu_power_watts, 1.0, 1), "check failed");
}

}  // namespace
}  // namespace everywatt::catalog
