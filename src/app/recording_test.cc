// SPDX-License-Identifier: Apache-2.0
#include "app/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "app/recorder_files.h"
#include "app/run_folder.h"
#include "base/clock.h"
#include "read/view/device.h"

namespace everywatt::app {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;

constexpr std::int64_t kSecond = 1'000'000'000;

class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    std::string pattern = "/dev/shm/everywatt-test-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FilesTest() override {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  RecorderFiles open(GpuSource source = GpuSource::kMachine, unsigned gpus = 1) {
    auto files = open_recorder_files(folder_, recorder_layout(source, gpus), source);
    EXPECT_TRUE(files) << files.error().message;
    return *std::move(files);
  }
  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }

  static void write_power(recorder::Writer& writer, std::int64_t time_ns, double watts) {
    Row row(Scope::kGpu, Lane::kGauge);
    row.time_ns = time_ns;
    row.set(MetricId::gpu_power_watts, watts);
    writer.append(row);
  }

  std::string folder_;
};

TEST_F(FilesTest, AnybodyMayReadTheRecorderButNotTheIdentities) {
  const RecorderFiles files = open();
  struct stat about{};
  ASSERT_EQ(::stat(path(kRecorderName).c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0644u);
  ASSERT_EQ(::stat(path(kIdentitiesName).c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0640u);
}

TEST_F(FilesTest, AreContinuedByTheSameDaemon) {
  {
    RecorderFiles files = open();
    EXPECT_FALSE(files.is_continued);
    auto writer = files.recorder->writer(files.recorder->slots(Scope::kGpu)[0], Lane::kGauge);
    ASSERT_TRUE(writer);
    write_power(*writer, base::boottime_ns(), 100);
    files.recorder->header().closed_ns.store(1);
  }
  RecorderFiles files = open();
  EXPECT_TRUE(files.is_continued);
  EXPECT_EQ(files.recorder->header().closed_ns.load(), 0u);
  auto writer = files.recorder->writer(files.recorder->slots(Scope::kGpu)[0], Lane::kGauge);
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->published(), 1u);
}

TEST_F(FilesTest, AreReplacedForOtherGpus) {
  {
    open(GpuSource::kMachine, 1);
  }
  EXPECT_FALSE(open(GpuSource::kMachine, 2).is_continued);
  EXPECT_FALSE(open(GpuSource::kNamedLibrary, 2).is_continued);
  EXPECT_TRUE(open(GpuSource::kNamedLibrary, 2).is_continued);
  EXPECT_FALSE(open(GpuSource::kDemo, 2).is_continued);
  EXPECT_FALSE(open(GpuSource::kDemo, 2).is_continued);
}

TEST_F(FilesTest, ThatReplaceOthersKnowUpToWhenFaultsWereTold) {
  {
    const RecorderFiles old = open(GpuSource::kMachine, 1);
    EXPECT_EQ(old.recorder->part(recorder::Part::kHost).heartbeat_ns.load(), 0u);
    old.recorder->part(recorder::Part::kHost).heartbeat_ns.store(77);
  }
  const RecorderFiles files = open(GpuSource::kMachine, 2);
  EXPECT_FALSE(files.is_continued);
  EXPECT_EQ(files.recorder->part(recorder::Part::kHost).heartbeat_ns.load(), 77u);
}

// What a demo's host process saw was no kernel log of this machine.
TEST_F(FilesTest, OfADemoSayNothingOfTheMachinesFaults) {
  {
    const RecorderFiles demo = open(GpuSource::kDemo, 1);
    demo.recorder->part(recorder::Part::kHost).heartbeat_ns.store(77);
  }
  {
    const RecorderFiles files = open(GpuSource::kMachine, 1);
    EXPECT_EQ(files.recorder->part(recorder::Part::kHost).heartbeat_ns.load(), 0u);
    files.recorder->part(recorder::Part::kHost).heartbeat_ns.store(78);
  }
  const RecorderFiles demo = open(GpuSource::kDemo, 1);
  EXPECT_EQ(demo.recorder->part(recorder::Part::kHost).heartbeat_ns.load(), 0u);
}

TEST_F(FilesTest, TellTheirReadersThatTheyWereReplaced) {
  const RecorderFiles old = open(GpuSource::kMachine, 1);
  const auto reader = recorder::Reader::open(path(kRecorderName));
  ASSERT_TRUE(reader);
  EXPECT_FALSE((*reader)->has_successor());
  open(GpuSource::kMachine, 2);
  EXPECT_TRUE((*reader)->has_successor());
}

TEST_F(FilesTest, GrowWithAllThatTheyHoldAndStaySoForTheNextDaemon) {
  RecorderFiles files = open(GpuSource::kMachine, 1);
  const std::uint32_t gpu = files.recorder->slots(Scope::kGpu)[0];
  const std::uint32_t mig = files.recorder->slots(Scope::kGpu, gpu)[3];
  for (const std::uint32_t slot : {gpu, mig}) {
    files.recorder->set_status(slot, recorder::DeviceStatus::kOk, kSecond);
    auto writer = files.recorder->writer(slot, Lane::kGauge);
    ASSERT_TRUE(writer);
    write_power(*writer, kSecond, slot == gpu ? 100 : 30);
  }
  const auto reader = recorder::Reader::open(path(kRecorderName));
  const auto grown = grow_recorder(folder_, files);
  ASSERT_TRUE(grown) << grown.error().message;
  EXPECT_TRUE((*reader)->has_successor());
  EXPECT_EQ(files.recorder->slots(Scope::kGpu).size(), 3u + 8u);
  const std::uint32_t last = files.recorder->slots(Scope::kGpu).back();
  EXPECT_EQ(files.recorder->slots(Scope::kGpu, last).size(), 7u);
  ASSERT_TRUE(files.recorder->writer(last, Lane::kGauge));
  {
    const auto view = view::View::open({.recorder_path = path(kRecorderName)});
    ASSERT_TRUE(view) << view.error().message;
    const auto gpus = view::gpus(**view);
    ASSERT_EQ(gpus.size(), 2u);
    EXPECT_EQ((*view)->number(gpus[0].slot, MetricId::gpu_power_watts), 100.0);
    EXPECT_EQ((*view)->number(gpus[1].slot, MetricId::gpu_power_watts), 30.0);
  }
  // The writers go on where the old ones ended.
  auto writer = files.recorder->writer(files.recorder->slots(Scope::kGpu)[0], Lane::kGauge);
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->published(), 1u);

  const RecorderFiles next = open(GpuSource::kMachine, 1);
  EXPECT_TRUE(next.is_continued);
  EXPECT_EQ(next.recorder->slots(Scope::kGpu).size(), 11u);
  EXPECT_FALSE(open(GpuSource::kNamedLibrary, 1).is_continued);
}

TEST_F(FilesTest, NeedAboutSixMebibytesAGpu) {
  const auto layout = recorder_layout(GpuSource::kMachine, 8);
  const std::uint64_t one = needed_bytes(layout, 1);
  const std::uint64_t eight = needed_bytes(layout, 8);
  EXPECT_LE(eight - one, std::uint64_t{7 * 6} << 20);
  EXPECT_GT(eight - one, std::uint64_t{7} << 20);
}

TEST_F(FilesTest, RecordingHoldsWhatIsThereAndGoesOn) {
  RecorderFiles files = open();
  const std::uint32_t gpu = files.recorder->slots(Scope::kGpu)[0];
  files.recorder->set_status(gpu, recorder::DeviceStatus::kOk, kSecond);
  files.recorder->device(gpu).index.store(3);
  auto writer = files.recorder->writer(gpu, Lane::kGauge);
  ASSERT_TRUE(writer);
  write_power(*writer, kSecond, 100);
  const auto view = view::View::open({.recorder_path = path(kRecorderName)});
  ASSERT_TRUE(view);
  const auto recording = Recording::open(**view, {.path = path("copy"), .duration_ns = kSecond});
  ASSERT_TRUE(recording) << recording.error().message;
  write_power(*writer, 2 * kSecond, 200);
  ASSERT_TRUE((*recording)->take_new());
  (*recording)->close();
  EXPECT_EQ((*recording)->rows(), 2u);
  EXPECT_EQ((*recording)->lost_rows(), 0u);

  const auto copy = view::View::open({.recorder_path = path("copy")});
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ((*copy)->recorder().source(), recorder::Source::kRecording);
  const auto gpus = view::gpus(**copy);
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].index, 3u);
  EXPECT_EQ((*copy)->number(gpus[0].slot, MetricId::gpu_power_watts), 200.0);
  EXPECT_EQ((*copy)->recorder().boot_id(), (*view)->recorder().boot_id());
}

TEST_F(FilesTest, RecordingCountsRowsThatWereOverwritten) {
  RecorderFiles files = open();
  const std::uint32_t gpu = files.recorder->slots(Scope::kGpu)[0];
  auto writer = files.recorder->writer(gpu, Lane::kGauge);
  ASSERT_TRUE(writer);
  write_power(*writer, 1, 1);
  const auto view = view::View::open({.recorder_path = path(kRecorderName)});
  ASSERT_TRUE(view);
  const auto recording = Recording::open(**view, {.path = path("copy")});
  ASSERT_TRUE(recording);
  for (std::uint64_t row = 0; row < writer->capacity() + 10; ++row) {
    write_power(*writer, 2 + static_cast<std::int64_t>(row), 2);
  }
  ASSERT_TRUE((*recording)->take_new());
  EXPECT_EQ((*recording)->lost_rows(), 10u);
}

TEST_F(FilesTest, RecordingHoldsIdentitiesUnlessTheyAreLeftOut) {
  const RecorderFiles files = open();
  auto writer = files.identities->writer(0, Lane::kIdentity);
  ASSERT_TRUE(writer);
  Row row(Scope::kNode, Lane::kIdentity);
  row.time_ns = kSecond;
  row.set(MetricId::identity_key, std::uint64_t{7});
  writer->append(row);
  const auto view = view::View::open({.recorder_path = path(kRecorderName)});
  ASSERT_TRUE(view);
  const auto with = Recording::open(**view, {.path = path("with")});
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ((*with)->rows(), 1u);
  struct stat about{};
  ASSERT_EQ(::stat(path("with").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0640u);
  const auto without = Recording::open(
      **view, {.path = path("without"), .duration_ns = 0, .with_identities = false});
  ASSERT_TRUE(without);
  EXPECT_EQ((*without)->rows(), 0u);
  // A copy of a copy keeps them, too.
  const auto copy = view::View::open({.recorder_path = path("with")});
  ASSERT_TRUE(copy);
  const auto again = Recording::open(**copy, {.path = path("again")});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)->rows(), 1u);
}

}  // namespace
}  // namespace everywatt::app
