// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/writer.h"

#include <gtest/gtest.h>

#include "record/recorder/pattern_row.h"
#include "record/recorder/ring_access.h"
#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

using base::Code;
using catalog::Lane;
using catalog::MetricId;
using catalog::Reading;
using catalog::Row;
using catalog::Scope;
using catalog::State;

std::unique_ptr<File> small_file(std::uint64_t capacity) {
  return File::create_anonymous(small_layout(capacity)).value();
}

// The first ring's entry in the mapping of `file`: what a dead writer leaves is set up with it.
RingEntry& first_ring(File& file) {
  auto* bytes = reinterpret_cast<std::byte*>(&file.header());
  return *reinterpret_cast<RingEntry*>(bytes + file.header().ring_offset);
}

void append_patterns(Writer& writer, std::uint64_t first, std::uint64_t end, std::uint64_t author) {
  Row row(Scope::kGpu, Lane::kGauge);
  for (std::uint64_t i = first; i < end; ++i) {
    fill_pattern(i, author, row);
    writer.append(row);
  }
}

TEST(Writer, RowsComeBackAsTheyWereAppended) {
  const auto file = small_file(4);
  Writer writer = file->writer(kSmallFileGpu, Lane::kGauge).value();
  EXPECT_EQ(writer.published(), 0U);
  EXPECT_EQ(writer.capacity(), 4U);
  const auto reader = read_of(*file);
  const std::uint32_t ring = reader->find_ring(kSmallFileGpu, Lane::kGauge).value();

  Row row(Scope::kGpu, Lane::kGauge);
  row.time_ns = 7;
  row.window_start_ns = 5;
  row.window_end_ns = 6;
  row.set(MetricId::gpu_utilization_ratio, 0.97);
  row.set_absent(MetricId::gpu_encoder_utilization_ratio, State::kNoPermission);
  writer.append(row);

  Row seen(Scope::kGpu, Lane::kGauge);
  ASSERT_EQ(reader->read(ring, 0, seen), RowState::kOk);
  EXPECT_EQ(seen.time_ns, 7);
  EXPECT_EQ(seen.window_start_ns, 5);
  EXPECT_EQ(seen.window_end_ns, 6);
  EXPECT_EQ(seen.reading(MetricId::gpu_utilization_ratio), Reading::of(0.97));
  EXPECT_EQ(seen.state(MetricId::gpu_encoder_utilization_ratio), State::kNoPermission);
  EXPECT_EQ(seen.state(MetricId::gpu_decoder_utilization_ratio), State::kNotRead);
  EXPECT_EQ(reader->read(ring, 1, seen), RowState::kNotYet);
  EXPECT_EQ(seen.time_ns, 0);
  EXPECT_EQ(seen.state(MetricId::gpu_utilization_ratio), State::kNotRead);
}

TEST(Writer, RingKeepsItsNewestRows) {
  const auto file = small_file(4);
  Writer writer = file->writer(kSmallFileGpu, Lane::kGauge).value();
  const auto reader = read_of(*file);
  const std::uint32_t ring = reader->find_ring(kSmallFileGpu, Lane::kGauge).value();
  append_patterns(writer, 0, 11, 1);
  EXPECT_EQ(reader->published(ring), 11U);
  EXPECT_EQ(reader->oldest(ring), 7U);
  Row row(Scope::kGpu, Lane::kGauge);
  for (std::uint64_t i = 0; i < 7; ++i) {
    EXPECT_EQ(reader->read(ring, i, row), RowState::kLost) << i;
  }
  for (std::uint64_t i = 7; i < 11; ++i) {
    ASSERT_EQ(reader->read(ring, i, row), RowState::kOk) << i;
    EXPECT_TRUE(is_pattern(i, row)) << i;
  }
}

TEST(Writer, AnotherProcessGoesOnWhereThisOneEnded) {
  const auto file = small_file(4);
  Writer first = file->writer(kSmallFileGpu, Lane::kGauge).value();
  append_patterns(first, 0, 3, 1);

  const auto adopted = File::adopt(duplicate(file->fd())).value();
  Writer second = adopted->writer(kSmallFileGpu, Lane::kGauge).value();
  Row row(Scope::kGpu, Lane::kGauge);
  EXPECT_TRUE(second.read_last(row));
  EXPECT_TRUE(is_pattern(2, row));
  append_patterns(second, 3, 5, 2);
  EXPECT_EQ(first.published(), 5U);
}

// Killed between step 1 and step 3: the row was begun, its slot holds some of its words.
TEST(Writer, TakesOverTheUnfinishedRowOfADeadOne) {
  const auto file = small_file(2);
  Writer dead = file->writer(kSmallFileGpu, Lane::kGauge).value();
  append_patterns(dead, 0, 4, 1);
  first_ring(*file).reserved.store(5);
  const auto reader = read_of(*file);
  const std::uint32_t ring = reader->find_ring(kSmallFileGpu, Lane::kGauge).value();
  Row row(Scope::kGpu, Lane::kGauge);
  EXPECT_EQ(reader->read(ring, 2, row), RowState::kLost);
  EXPECT_EQ(reader->read(ring, 3, row), RowState::kOk);

  Writer next = file->writer(kSmallFileGpu, Lane::kGauge).value();
  EXPECT_EQ(next.published(), 4U);
  EXPECT_TRUE(next.read_last(row));
  EXPECT_TRUE(is_pattern(3, row));
  append_patterns(next, 4, 5, 2);
  EXPECT_EQ(first_ring(*file).reserved.load(), 5U);
  ASSERT_EQ(reader->read(ring, 4, row), RowState::kOk);
  EXPECT_TRUE(is_pattern(4, row));
  EXPECT_EQ(row.window_start_ns, 2);
}

TEST(Writer, HasNoLastRowInAnEmptyOrDamagedRing) {
  const auto file = small_file(4);
  Writer writer = file->writer(kSmallFileGpu, Lane::kGauge).value();
  Row row(Scope::kGpu, Lane::kGauge);
  row.time_ns = 3;
  EXPECT_FALSE(writer.read_last(row));
  EXPECT_EQ(row.time_ns, 0);

  append_patterns(writer, 0, 1, 1);
  EXPECT_TRUE(writer.read_last(row));
  auto* bytes = reinterpret_cast<std::byte*>(&file->header());
  auto* slot = reinterpret_cast<Word*>(bytes + first_ring(*file).offset);
  slot[kWindowEndWord].fetch_add(1);
  EXPECT_FALSE(writer.read_last(row));
  EXPECT_EQ(row.time_ns, 0);
}

TEST(File, HasNoWriterForARingThatItLacks) {
  const auto file = small_file(4);
  EXPECT_EQ(file->writer(kSmallFileGpu, Lane::kGpm).error().code, Code::kNotFound);
  EXPECT_EQ(file->writer(7, Lane::kGauge).error().message,
            "the recorder in memory has no ring of lane gauge for device 7");
}

TEST(File, AllocatesARingWithItsFirstWriter) {
  const auto file = small_file(4);
  EXPECT_EQ(first_ring(*file).allocated.load(), 0U);
  ASSERT_TRUE(file->writer(kSmallFileGpu, Lane::kGauge).has_value());
  EXPECT_EQ(first_ring(*file).allocated.load(), 1U);
}

TEST(File, FindsTheSlotsOfAScopeInOrder) {
  const auto file = File::create_anonymous(
                        live_layout({.gpus = 2, .spare_gpus = 0, .migs_per_gpu = 2, .disks = 3}))
                        .value();
  EXPECT_EQ(file->slots(Scope::kNode), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(file->slots(Scope::kGpu), (std::vector<std::uint32_t>{5, 6}));
  EXPECT_EQ(file->slots(Scope::kGpu, 6), (std::vector<std::uint32_t>{9, 10}));
  EXPECT_EQ(file->slots(Scope::kDisk), (std::vector<std::uint32_t>{11, 12, 13}));
  EXPECT_EQ(file->slots(Scope::kDisk, 6), (std::vector<std::uint32_t>{}));
}

TEST(File, HasTheMachineAndThePartsFromTheStart) {
  const auto file = File::create_anonymous(live_layout({.gpus = 1})).value();
  const auto devices = read_of(*file)->devices();
  ASSERT_EQ(devices.size(), 1U + kPartCount);
  EXPECT_EQ(devices[0].scope, Scope::kNode);
  EXPECT_EQ(devices[0].status, DeviceStatus::kOk);
  EXPECT_EQ(devices[4].scope, Scope::kPart);
  EXPECT_EQ(devices[4].index, 3U);
}

TEST(File, GenerationGrowsWhenADeviceComesOrComesBack) {
  const auto file = small_file(4);
  const auto reader = read_of(*file);
  EXPECT_TRUE(reader->devices().empty());
  const auto seen = [&] { return reader->device(kSmallFileGpu); };

  file->set_status(kSmallFileGpu, DeviceStatus::kOk, 100);
  EXPECT_EQ(seen().generation, 1U);
  EXPECT_EQ(seen().status_since_ns, 100);
  file->set_status(kSmallFileGpu, DeviceStatus::kOk, 200);
  EXPECT_EQ(seen().generation, 1U);
  EXPECT_EQ(seen().status_since_ns, 100);
  file->set_status(kSmallFileGpu, DeviceStatus::kLost, 300);
  EXPECT_EQ(seen().status, DeviceStatus::kLost);
  EXPECT_EQ(seen().generation, 1U);
  EXPECT_EQ(seen().status_since_ns, 300);
  file->set_status(kSmallFileGpu, DeviceStatus::kOk, 400);
  EXPECT_EQ(seen().generation, 2U);
}

TEST(File, AdoptsOnlyWhatThisVersionMade) {
  const auto file = small_file(4);
  std::vector<std::byte> image = image_of(*file);
  EXPECT_TRUE(File::adopt(file_of(image)).has_value());

  // Another first metric: somebody's catalog, but not ours.
  Tables other = parse_tables(image.data(), image.size(), "image").value();
  other.catalog[0].name[0] = 'x';
  EXPECT_EQ(File::adopt(file_of(image_of(other))).error().code, Code::kCorrupt);
  EXPECT_TRUE(open_image(image_of(other)).has_value());

  image[0] = std::byte{0};
  EXPECT_EQ(File::adopt(file_of(image)).error().message,
            "the recorder file is not a recorder file");
  EXPECT_FALSE(File::adopt(base::UniqueFd()).has_value());
}

// Several processes have the file mapped for writing; one that was taken over must not lead the
// others' pens out of their rings.
TEST(File, AWriterGoesByTheShapeThatItCheckedAndNotByWhatTheFileSaysLater) {
  const auto file = small_file(4);
  Writer writer = file->writer(kSmallFileGpu, Lane::kGauge).value();
  RingEntry& entry = first_ring(*file);
  entry.capacity = kMaxCapacity;
  entry.row_words = kMaxRowWords;
  entry.published.store(1'000'001);
  EXPECT_EQ(writer.capacity(), 4U);
  Row row(Scope::kGpu, Lane::kGauge);
  fill_pattern(1'000'001, 1, row);
  writer.append(row);
  ASSERT_TRUE(writer.read_last(row));
  EXPECT_TRUE(is_pattern(1'000'001, row));
}

TEST(File, InMemoryIsInMemory) {
  EXPECT_TRUE(small_file(4)->is_in_memory());
}

TEST(WriterDeathTest, ARowOfAnotherLaneIsAMistake) {
  const auto file = small_file(4);
  Writer writer = file->writer(kSmallFileGpu, Lane::kGauge).value();
  EXPECT_DEATH(writer.append(Row(Scope::kGpu, Lane::kPower)), "row.lane");
}

}  // namespace
}  // namespace everywatt::recorder
