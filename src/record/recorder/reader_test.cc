// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/reader.h"

#include <gtest/gtest.h>

#include "record/recorder/pattern_row.h"
#include "record/recorder/ring_access.h"
#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Reading;
using catalog::Row;
using catalog::Scope;
using catalog::State;

class ReaderTest : public ::testing::Test {
 protected:
  void append(std::uint64_t first, std::uint64_t end) {
    Row row(Scope::kGpu, Lane::kGauge);
    for (std::uint64_t i = first; i < end; ++i) {
      fill_pattern(i, 1, row);
      row.time_ns = static_cast<std::int64_t>(10 * i);
      writer_.append(row);
    }
  }
  RingEntry& entry() {
    auto* bytes = reinterpret_cast<std::byte*>(&file_->header());
    return *reinterpret_cast<RingEntry*>(bytes + file_->header().ring_offset);
  }

  std::unique_ptr<File> file_ = File::create_anonymous(small_layout(8)).value();
  Writer writer_ = file_->writer(kSmallFileGpu, Lane::kGauge).value();
  std::unique_ptr<Reader> reader_ = read_of(*file_);
  std::uint32_t ring_ = reader_->find_ring(kSmallFileGpu, Lane::kGauge).value();
};

TEST_F(ReaderTest, TellsWhatTheFileTellsOfItself) {
  EXPECT_EQ(reader_->source(), Source::kLive);
  EXPECT_EQ(reader_->boot_id(), "01020300-0000-0000-0000-000000000000");
  EXPECT_FALSE(reader_->is_of_this_boot());
  EXPECT_EQ(reader_->created_ns(), 1'000);
  EXPECT_EQ(reader_->wall_offset_ns(), 4'000);
  EXPECT_EQ(reader_->closed_ns(), 0);
  EXPECT_FALSE(reader_->has_successor());
  EXPECT_EQ(reader_->device_count(), 1U);
  EXPECT_EQ(reader_->ring_count(), 2U);
  EXPECT_EQ(reader_->ring(ring_).capacity, 8U);
  EXPECT_EQ(reader_->ring(ring_).writer, Part::kSampler);
  EXPECT_EQ(reader_->find_ring(kSmallFileGpu, Lane::kSlow), std::nullopt);
  EXPECT_EQ(reader_->find_ring(99, Lane::kGauge), std::nullopt);
  EXPECT_TRUE(reader_->has_metric(MetricId::gpu_utilization_ratio));
}

TEST_F(ReaderTest, SeesWhatThePartsAndWritersTellWhileTheyLive) {
  file_->part(Part::kHost).pid.store(42);
  file_->header().wall_offset_ns.store(77);
  file_->header().closed_ns.store(88);
  file_->header().successor.store(1);
  file_->device(kSmallFileGpu).call.store(3);
  file_->device(kSmallFileGpu).rows_before.store(5);
  EXPECT_EQ(reader_->part(Part::kHost).pid.load(), 42U);
  EXPECT_EQ(reader_->part(Part::kSampler).pid.load(), 0U);
  EXPECT_EQ(reader_->wall_offset_ns(), 77);
  EXPECT_EQ(reader_->closed_ns(), 88);
  EXPECT_TRUE(reader_->has_successor());
  EXPECT_EQ(reader_->device(kSmallFileGpu).call, 3U);
  EXPECT_EQ(reader_->device(kSmallFileGpu).rows_before_ns, 5);
}

TEST_F(ReaderTest, AStatusOfANewerVersionIsAFailure) {
  file_->device(kSmallFileGpu).status.store(1000);
  EXPECT_EQ(reader_->devices().at(0).status, DeviceStatus::kFailed);
}

TEST_F(ReaderTest, ReadsOneCellWithItsTimes) {
  Row row(Scope::kGpu, Lane::kGauge);
  row.time_ns = 7;
  row.window_start_ns = 5;
  row.window_end_ns = 6;
  row.set(MetricId::gpu_memory_used_bytes, std::uint64_t{1} << 40);
  row.set_absent(MetricId::gpu_utilization_ratio, State::kNoNewValue);
  writer_.append(row);

  Reader::Cell cell;
  ASSERT_EQ(reader_->read_cell(ring_, 0, MetricId::gpu_memory_used_bytes, 0, cell), RowState::kOk);
  EXPECT_EQ(cell.reading, Reading::of(std::uint64_t{1} << 40));
  EXPECT_EQ(cell.time_ns, 7);
  EXPECT_EQ(cell.window_start_ns, 5);
  EXPECT_EQ(cell.window_end_ns, 6);
  ASSERT_EQ(reader_->read_cell(ring_, 0, MetricId::gpu_utilization_ratio, 0, cell), RowState::kOk);
  EXPECT_EQ(cell.reading, Reading::absent(State::kNoNewValue));
  EXPECT_EQ(reader_->read_cell(ring_, 1, MetricId::gpu_utilization_ratio, 0, cell),
            RowState::kNotYet);
  EXPECT_EQ(cell.time_ns, 0);
}

TEST_F(ReaderTest, EveryCellIsTheOneOfTheWholeRow) {
  append(0, 3);
  Row row(Scope::kGpu, Lane::kGauge);
  ASSERT_EQ(reader_->read(ring_, 2, row), RowState::kOk);
  for (const MetricId id : catalog::schema(Scope::kGpu, Lane::kGauge).metrics) {
    for (unsigned i = 0; i < catalog::metric(id).instances; ++i) {
      Reader::Cell cell;
      ASSERT_EQ(reader_->read_cell(ring_, 2, id, i, cell), RowState::kOk);
      EXPECT_EQ(cell.reading, row.reading(id, i)) << catalog::metric(id).name << i;
    }
  }
}

TEST_F(ReaderTest, FindsTheFirstRowFromATimeOn) {
  EXPECT_EQ(reader_->lower_bound(ring_, 0), 0U);
  append(0, 5);
  EXPECT_EQ(reader_->lower_bound(ring_, -1), 0U);
  EXPECT_EQ(reader_->lower_bound(ring_, 20), 2U);
  EXPECT_EQ(reader_->lower_bound(ring_, 21), 3U);
  EXPECT_EQ(reader_->lower_bound(ring_, 41), 5U);
  append(5, 20);
  EXPECT_EQ(reader_->lower_bound(ring_, 0), 12U);
  EXPECT_EQ(reader_->lower_bound(ring_, 150), 15U);
  EXPECT_EQ(reader_->read_time(ring_, 11), std::nullopt);
  EXPECT_EQ(reader_->read_time(ring_, 12), 120);
  EXPECT_EQ(reader_->read_time(ring_, 20), std::nullopt);
}

// As a reader that is overtaken in step 2 finds it.
TEST_F(ReaderTest, ARowWhoseSlotIsBeingRewrittenIsLost) {
  append(0, 8);
  entry().reserved.store(9);
  Row row(Scope::kGpu, Lane::kGauge);
  Reader::Cell cell;
  EXPECT_EQ(reader_->read(ring_, 0, row), RowState::kLost);
  EXPECT_EQ(reader_->read_time(ring_, 0), std::nullopt);
  EXPECT_EQ(reader_->read_cell(ring_, 0, MetricId::gpu_utilization_ratio, 0, cell),
            RowState::kLost);
  EXPECT_EQ(cell.time_ns, 0);
  EXPECT_EQ(reader_->read(ring_, 1, row), RowState::kOk);
}

TEST_F(ReaderTest, AnyChangedWordOfARowIsDamage) {
  append(0, 1);
  auto* slot =
      reinterpret_cast<Word*>(reinterpret_cast<std::byte*>(&file_->header()) + entry().offset);
  Row row(Scope::kGpu, Lane::kGauge);
  for (std::uint32_t i = 0; i < entry().row_words; ++i) {
    slot[i].fetch_xor(std::uint64_t{1} << i);
    EXPECT_EQ(reader_->read(ring_, 0, row), RowState::kDamaged) << i;
    EXPECT_EQ(row.time_ns, 0);
    slot[i].fetch_xor(std::uint64_t{1} << i);
  }
  EXPECT_EQ(reader_->read(ring_, 0, row), RowState::kOk);
}

TEST_F(ReaderTest, DamagedNumbersOfRowsLeadNowhere) {
  append(0, 3);
  Row row(Scope::kGpu, Lane::kGauge);
  entry().published.store(~std::uint64_t{0});
  EXPECT_EQ(reader_->oldest(ring_), ~std::uint64_t{0} - 8);
  EXPECT_EQ(reader_->read(ring_, 2, row), RowState::kLost);
  EXPECT_NE(reader_->read(ring_, ~std::uint64_t{0} - 3, row), RowState::kOk);
  EXPECT_EQ(reader_->read(ring_, ~std::uint64_t{0}, row), RowState::kNotYet);
  static_cast<void>(reader_->lower_bound(ring_, 5));
  entry().published.store(0);
  EXPECT_EQ(reader_->read(ring_, 0, row), RowState::kNotYet);
}

TEST_F(ReaderTest, AMetricOfAnotherLaneIsAMistake) {
  append(0, 1);
  Reader::Cell cell;
  EXPECT_DEATH(reader_->read_cell(ring_, 0, MetricId::gpu_sm_active_ratio, 0, cell), "lane");
}

}  // namespace
}  // namespace everywatt::recorder
