// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/writer.h"

#include <gtest/gtest.h>

#include "record/recorder/pattern_row.h"
#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

TEST(Writer, RowsComeBackAsTheyWereAppended) {
  const auto file = File::create_anonymous(small_layout(4)).value();
  Writer writer = file->writer(kSmallFileGpu, Lane::kGauge).value();
  EXPECT_EQ(writer.published(), 0U);
  EXPECT_EQ(writer.capacity(), 4U);
  const auto reader = read_of(*file);
  const std::uint32_t ring = reader->find_ring(kSmallFileGpu, Lane::kGauge).value();

  Row row(Scope::kGpu, Lane::kGauge);
  row.time_ns = 7;
  row.set(MetricId::gpu_utilization_ratio, 0.97);
  row.set_absent(MetricId::gpu_encoder_utilization_ratio, State::kNoPermission);
  writer.append(row);

  Row seen(Scope::kGpu, Lane::kGauge);
  ASSERT_EQ(reader->read(ring, 0, seen), RowState::kOk);
  EXPECT_EQ(seen.time_ns, 7);
  EXPECT_EQ(seen.reading(MetricId::gpu_utilization_ratio), catalog::Reading::of(0.97));
  EXPECT_EQ(seen.state(MetricId::gpu_encoder_utilization_ratio), State::kNoPermission);
  EXPECT_EQ(seen.state(MetricId::gpu_decoder_utilization_ratio), State::kNotRead);
  EXPECT_EQ(reader->read(ring, 1, seen), RowState::kNotYet);
  EXPECT_EQ(seen.time_ns, 0);
}

TEST(Writer, RingKeepsItsNewestRows) {
  const auto file = File::create_anonymous(small_layout(4)).value();
  Writer writer = file->writer(kSmallFileGpu, Lane::kGauge).value();
  const auto reader = read_of(*file);
  const std::uint32_t ring = reader->find_ring(kSmallFileGpu, Lane::kGauge).value();
  Row row(Scope::kGpu, Lane::kGauge);
  for (std::uint64_t i = 0; i < 11; ++i) {
    fill_pattern(i, 1, row);
    writer.append(row);
  }
  EXPECT_EQ(reader->published(ring), 11U);
  EXPECT_EQ(reader->oldest(ring), 7U);
  for (std::uint64_t i = 0; i < 7; ++i)
    EXPECT_EQ(reader->read(ring, i, row), RowState::kLost) << i;
  for (std::uint64_t i = 7; i < 11; ++i) {
    ASSERT_EQ(reader->read(ring, i, row), RowState::kOk) << i;
    EXPECT_TRUE(is_pattern(i, row)) << i;
  }
}

}  // namespace
}  // namespace everywatt::recorder
