// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/copy.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>

#include "record/recorder/pattern_row.h"
#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

using base::Code;
using catalog::Lane;
using catalog::Row;
using catalog::Scope;

class CopyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "copy-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/kept.rec";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void append(Writer writer, std::uint64_t first, std::uint64_t end) {
    Row row(Scope::kGpu, Lane::kGauge);
    for (std::uint64_t i = first; i < end; ++i) {
      fill_pattern(i, 1, row);
      writer.append(row);
    }
  }
  static Writer gauge_writer(File& file, std::uint32_t slot = kSmallFileGpu) {
    return file.writer(slot, Lane::kGauge).value();
  }
  // The pattern numbers of the rows that a file holds, all of which must be whole.
  static std::vector<std::uint64_t> numbers(const Reader& reader,
                                            std::uint32_t slot = kSmallFileGpu) {
    std::vector<std::uint64_t> found;
    const std::uint32_t ring = reader.find_ring(slot, Lane::kGauge).value();
    Row row(Scope::kGpu, Lane::kGauge);
    for (std::uint64_t n = reader.oldest(ring); n < reader.published(ring); ++n) {
      EXPECT_EQ(reader.read(ring, n, row), RowState::kOk) << n;
      found.push_back(static_cast<std::uint64_t>(row.time_ns));
      EXPECT_TRUE(is_pattern(found.back(), row)) << n;
    }
    return found;
  }
  static std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t end) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = first; i < end; ++i)
      all.push_back(i);
    return all;
  }

  std::string folder_;
  std::string path_;
  std::unique_ptr<File> live_ = File::create_anonymous(small_layout(8)).value();
  std::unique_ptr<Reader> source_ = read_of(*live_);
};

// A damaged file may claim rows by the hundred million where there are none.
TEST_F(CopyTest, RowsThatAFileClaimsWithoutEndAreNotAllLookedFor) {
  constexpr std::uint64_t kClaimed = 80'000;
  const auto source = File::create_anonymous(small_layout(kClaimed)).value();
  append(gauge_writer(*source), 0, 3);
  const auto reader = Reader::adopt(duplicate(source->fd()), "the test's file").value();
  const std::uint32_t ring = reader->find_ring(kSmallFileGpu, Lane::kGauge).value();
  const std::uint64_t claimed = kClaimed - 1;
  const auto place =
      source->header().ring_offset + ring * sizeof(RingEntry) + offsetof(RingEntry, published);
  ASSERT_EQ(::pwrite(source->fd(), &claimed, sizeof claimed, static_cast<off_t>(place)), 8);
  append(gauge_writer(*source), 7, 8);  // far behind all of them
  const auto target = File::create_anonymous(small_layout(4)).value();
  const CopyCount count = copy(*reader, *target).value();
  EXPECT_EQ(count.copied, 3u);
  EXPECT_EQ(count.damaged, kClaimed - 3);
}

TEST_F(CopyTest, KeepsRowsDevicesAndWhatThePartsTell) {
  live_->set_status(kSmallFileGpu, DeviceStatus::kOk, 5);
  live_->device(kSmallFileGpu).index.store(3);
  live_->device(kSmallFileGpu).rows_before.store(2);
  live_->part(Part::kSampler).pid.store(11);
  live_->header().wall_offset_ns.store(12);
  append(gauge_writer(*live_), 0, 11);
  const auto to = File::create_anonymous(small_layout(100)).value();
  const CopyCount count = copy(*source_, *to).value();
  EXPECT_EQ(count.copied, 8U);
  EXPECT_EQ(count.damaged, 0U);

  const auto kept = read_of(*to);
  EXPECT_EQ(numbers(*kept), from_to(3, 11));
  EXPECT_EQ(kept->device(kSmallFileGpu).status, DeviceStatus::kOk);
  EXPECT_EQ(kept->device(kSmallFileGpu).status_since_ns, 5);
  EXPECT_EQ(kept->device(kSmallFileGpu).index, 3U);
  EXPECT_EQ(kept->device(kSmallFileGpu).generation, 1U);
  EXPECT_EQ(kept->device(kSmallFileGpu).rows_before_ns, 2);
  EXPECT_EQ(kept->part(Part::kSampler).pid.load(), 11U);
  EXPECT_EQ(kept->wall_offset_ns(), 12);
}

TEST_F(CopyTest, ASmallerRingKeepsTheNewest) {
  append(gauge_writer(*live_), 0, 8);
  const auto to = File::create_anonymous(small_layout(3)).value();
  EXPECT_TRUE(copy(*source_, *to).has_value());
  EXPECT_EQ(numbers(*read_of(*to)), from_to(5, 8));
}

// What a machine's file grows into when a GPU is plugged in: the slots of later scopes move.
TEST_F(CopyTest, DevicesFindTheirPlacesInALargerFile) {
  const MachineShape shape{.gpus = 1, .spare_gpus = 0, .migs_per_gpu = 2, .disks = 1};
  MachineShape larger = shape;
  larger.gpus = 3;
  const auto from = File::create_anonymous(live_layout(shape)).value();
  const std::uint32_t instance = from->slots(Scope::kGpu, from->slots(Scope::kGpu)[0])[1];
  const std::uint32_t disk = from->slots(Scope::kDisk)[0];
  append(gauge_writer(*from, instance), 0, 3);
  from->set_status(disk, DeviceStatus::kOk, 9);

  const auto to = File::create_anonymous(live_layout(larger)).value();
  ASSERT_TRUE(copy(*read_of(*from), *to).has_value());
  const std::uint32_t instance_there = to->slots(Scope::kGpu, to->slots(Scope::kGpu)[0])[1];
  EXPECT_NE(instance_there, instance);
  EXPECT_EQ(numbers(*read_of(*to), instance_there), from_to(0, 3));
  EXPECT_EQ(read_of(*to)->device(to->slots(Scope::kDisk)[0]).status_since_ns, 9);
}

TEST_F(CopyTest, RecordingGoesOnWhereItEndedAndGrows) {
  Writer writer = gauge_writer(*live_);
  append(writer, 0, 10);
  const auto recording = Recording::create(*source_, {.path = path_}).value();
  EXPECT_EQ(recording->copy_new(*source_)->copied, 8U);
  EXPECT_EQ(recording->copy_new(*source_)->copied, 0U);
  const auto early_reader = Reader::open(path_).value();
  for (std::uint64_t i = 10; i < 100; i += 5) {
    append(writer, i, i + 5);
    EXPECT_EQ(recording->copy_new(*source_)->copied, 5U);
  }
  EXPECT_TRUE(early_reader->has_successor());
  recording->close(1234);
  const auto kept = Reader::open(path_).value();
  EXPECT_EQ(numbers(*kept), from_to(2, 100));
  EXPECT_EQ(kept->ring(kept->find_ring(kSmallFileGpu, Lane::kGauge).value()).capacity, 128U);
  EXPECT_EQ(kept->ring(kept->find_ring(kSmallFileGpu, Lane::kPower).value()).capacity, 8U);
  EXPECT_EQ(kept->source(), Source::kRecording);
  EXPECT_EQ(kept->created_ns(), source_->created_ns());
  EXPECT_EQ(kept->boot_id(), source_->boot_id());
  EXPECT_EQ(kept->closed_ns(), 1234);
  unsigned files = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder_)) {
    files += each.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 1U);
}

TEST_F(CopyTest, RecordingBeginsAsLargeAsAsked) {
  Capacities capacity{};
  capacity[static_cast<unsigned>(Scope::kGpu)][static_cast<unsigned>(Lane::kGauge)] = 3;
  append(gauge_writer(*live_), 0, 5);
  const auto recording = Recording::create(*source_, {.path = path_, .capacity = capacity}).value();
  ASSERT_TRUE(recording->copy_new(*source_).has_value());
  const auto kept = Reader::open(path_).value();
  EXPECT_EQ(numbers(*kept), from_to(0, 5));
  EXPECT_EQ(kept->ring(kept->find_ring(kSmallFileGpu, Lane::kGauge).value()).capacity, 6U);
}

TEST_F(CopyTest, CountsWhatItCameTooLateFor) {
  Writer writer = gauge_writer(*live_);
  append(writer, 0, 4);
  const auto recording = Recording::create(*source_, {.path = path_}).value();
  ASSERT_TRUE(recording->copy_new(*source_).has_value());
  append(writer, 4, 20);
  const CopyCount count = recording->copy_new(*source_).value();
  EXPECT_EQ(count.lost, 8U);
  EXPECT_EQ(count.copied, 8U);
}

TEST_F(CopyTest, GoesOnByTimeInTheFileThatReplacedItsSource) {
  append(gauge_writer(*live_), 0, 4);
  const auto recording = Recording::create(*source_, {.path = path_}).value();
  ASSERT_TRUE(recording->copy_new(*source_).has_value());

  LayoutOptions layout = small_layout(8);
  layout.origin->created_ns += 1;
  const auto next = File::create_anonymous(layout).value();
  append(gauge_writer(*next), 2, 7);
  EXPECT_EQ(recording->copy_new(*read_of(*next))->copied, 3U);
  EXPECT_EQ(numbers(*Reader::open(path_).value()), from_to(0, 7));

  layout.origin->boot_id = {9};
  const auto rebooted = File::create_anonymous(layout).value();
  EXPECT_EQ(recording->copy_new(*read_of(*rebooted)).error().code, Code::kInvalidArgument);
}

TEST_F(CopyTest, SkipsDamagedRows) {
  append(gauge_writer(*live_), 0, 4);
  auto* bytes = reinterpret_cast<std::byte*>(&live_->header());
  auto* entry = reinterpret_cast<RingEntry*>(bytes + live_->header().ring_offset);
  reinterpret_cast<Word*>(bytes + entry->offset)[entry->row_words].fetch_add(1);
  const auto recording = Recording::create(*source_, {.path = path_}).value();
  const CopyCount count = recording->copy_new(*source_).value();
  EXPECT_EQ(count.copied, 3U);
  EXPECT_EQ(count.damaged, 1U);
}

TEST_F(CopyTest, AFileIsNotRecordedIntoItself) {
  const auto file = File::create(path_, 0644, small_layout(8)).value();
  const auto recording = Recording::create(*Reader::open(path_).value(), {.path = path_});
  ASSERT_FALSE(recording.has_value());
  EXPECT_EQ(recording.error().message, path_ + " is the recorder file that is to be copied");
}

TEST_F(CopyTest, DevicesOfAScopeFromTheFutureAreLeftOut) {
  Tables tables = plan_tables(live_layout({.gpus = 1, .spare_gpus = 0, .disks = 1})).value();
  tables.devices[0].scope = 99;
  const auto source = open_image(image_of(tables)).value();
  const auto recording = Recording::create(*source, {.path = path_}).value();
  ASSERT_TRUE(recording->copy_new(*source).has_value());
  const auto kept = Reader::open(path_).value();
  EXPECT_EQ(kept->device_count(), source->device_count() - 1);
  EXPECT_EQ(kept->device(5).parent, 4U);
}

}  // namespace
}  // namespace everywatt::recorder
