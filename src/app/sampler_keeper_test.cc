// SPDX-License-Identifier: Apache-2.0
#include "app/sampler_keeper.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <csignal>

#include "app/part.h"
#include "record/recorder/reader.h"

namespace everywatt::app {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Scope;
using nvml::Call;
using recorder::DeviceStatus;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;

// A sampler as the test wants it to be.
struct Life {
  SamplerOrders orders;
  bool ends_when_asked = true;
  bool can_be_killed = true;
  std::optional<Ending> ending = {};
  bool is_collected = false;
};

class MadeUpProcess : public Process {
 public:
  MadeUpProcess(Life& life, pid_t pid) : life_(life), pid_(pid) {}
  pid_t pid() const override { return pid_; }
  int fd() const override { return -1; }
  void signal(int number) override {
    if (number == SIGTERM && life_.ends_when_asked) life_.ending = Ending{0, "exit status 0"};
    if (number == SIGKILL && life_.can_be_killed) {
      life_.ending = Ending{137, "killed by signal 9 (Killed)"};
    }
  }
  std::optional<Ending> wait_for(int /*timeout_ms*/) override {
    if (!life_.ending || life_.is_collected) return std::nullopt;
    life_.is_collected = true;
    return life_.ending;
  }

 private:
  Life& life_;
  pid_t pid_;
};

class KeeperTest : public testing::Test {
 protected:
  KeeperTest() {
    file_ = *recorder::File::create_anonymous(recorder::live_layout({.gpus = 3, .spare_gpus = 0}));
    reader_ = *recorder::Reader::adopt(base::UniqueFd(::dup(file_->fd())), "test");
    log_.emplace(*SupervisorLog::open(*file_));
    for (unsigned i = 0; i < 3; ++i)
      file_->set_status(gpu(i), DeviceStatus::kOk, 1);
    keeper_.emplace(SamplerKeeper::Options{
        .file = file_.get(),
        .log = &*log_,
        .start = [this](const SamplerOrders& orders) -> base::Result<std::unique_ptr<Process>> {
          lives_.push_back(std::make_unique<Life>(next_));
          lives_.back()->orders = orders;
          return std::make_unique<MadeUpProcess>(*lives_.back(),
                                                 static_cast<pid_t>(100 + lives_.size()));
        },
        .clock = [this] { return now_ns_; }});
    keeper_->tick();
  }

  std::uint32_t gpu(unsigned number) const { return file_->slots(Scope::kGpu)[number]; }
  std::uint32_t part() const { return file_->slots(Scope::kPart)[1]; }
  DeviceStatus status(unsigned number) const {
    return static_cast<DeviceStatus>(file_->device(gpu(number)).status.load());
  }
  Life& life() { return *lives_.back(); }

  void leave_crumb(std::uint32_t slot, Call call, std::uint64_t mark = 0) {
    file_->device(slot).call_since_ns = static_cast<std::uint64_t>(now_ns_);
    file_->device(slot).call = (static_cast<std::uint64_t>(call) + 1) | mark;
  }
  void pass(std::int64_t ns) {
    now_ns_ += ns;
    keeper_->tick();
  }
  void crash(std::uint32_t slot) {
    leave_crumb(slot, Call::kDeviceGetPowerUsage);
    life().ending = Ending{128 + SIGSEGV, "killed by signal 11 (Segmentation fault)"};
    pass(kSecond);
    pass(11 * kSecond);  // whatever the pause before the next start
  }

  // "timed_out 4 text": kind, slot, text; without the parts' own.
  std::vector<std::string> events() const {
    std::vector<std::string> lines;
    const auto ring = *reader_->find_ring(file_->slots(Scope::kPart)[0], Lane::kEvent);
    catalog::Row row(Scope::kPart, Lane::kEvent);
    for (std::uint64_t i = 0; i < reader_->published(ring); ++i) {
      EXPECT_EQ(reader_->read(ring, i, row), recorder::RowState::kOk);
      const auto kind = static_cast<catalog::EventKind>(row.reading(MetricId::event_kind).u64());
      if (kind == catalog::EventKind::kPartStarted) continue;
      lines.push_back(fmt::format("{} {} {}", catalog::event_kind_name(kind),
                                  row.reading(MetricId::event_device).u64(),
                                  row.text(MetricId::event_text)));
    }
    return lines;
  }

  std::int64_t now_ns_ = 100 * kMinute;
  Life next_;
  std::unique_ptr<recorder::File> file_;
  std::unique_ptr<recorder::Reader> reader_;
  std::optional<SupervisorLog> log_;
  std::vector<std::unique_ptr<Life>> lives_;
  std::optional<SamplerKeeper> keeper_;
};

TEST_F(KeeperTest, StartsASamplerThatLeavesNothingAlone) {
  ASSERT_EQ(lives_.size(), 1u);
  EXPECT_THAT(life().orders.fenced, IsEmpty());
  EXPECT_TRUE(life().orders.has_events);
  EXPECT_EQ(file_->part(recorder::Part::kSampler).pid.load(), 101u);
  EXPECT_EQ(file_->part(recorder::Part::kSampler).starts.load(), 1u);
  pass(kSecond);
  EXPECT_EQ(lives_.size(), 1u);
}

TEST_F(KeeperTest, OneThatEndsIsStartedAgainLaterEachTime) {
  std::vector<std::int64_t> waits_ms;
  for (int i = 0; i < 9; ++i) {
    life().ending = Ending{1, "exit status 1"};
    const std::size_t before = lives_.size();
    keeper_->tick();
    std::int64_t waited_ms = 0;
    for (; lives_.size() == before; waited_ms += 100)
      pass(kSecond / 10);
    waits_ms.push_back(waited_ms);
  }
  EXPECT_THAT(waits_ms, ElementsAre(100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000));
}

TEST_F(KeeperTest, OneThatHadLivedForSomeSecondsIsStartedAgainAtOnceEachTime) {
  for (std::size_t i = 0; i < 5; ++i) {
    pass(5 * kSecond);
    life().ending = Ending{137, "killed by signal 9 (Killed)"};
    keeper_->tick();
    pass(kSecond / 10);
    ASSERT_EQ(lives_.size(), i + 2);
  }
}

TEST_F(KeeperTest, FencesTheGpuWhoseCallHangsAndClearsTheOthersBreadcrumbs) {
  life().ends_when_asked = false;
  leave_crumb(gpu(1), Call::kDeviceGetPowerUsage);
  now_ns_ += kSecond;
  leave_crumb(gpu(2), Call::kDeviceGetMemoryInfo);
  pass(kSecond);
  EXPECT_EQ(lives_.size(), 1u);
  pass(1);
  ASSERT_EQ(lives_.size(), 2u);
  EXPECT_THAT(life().orders.fenced, ElementsAre(gpu(1)));
  EXPECT_EQ(status(0), DeviceStatus::kOk);
  EXPECT_EQ(status(1), DeviceStatus::kTimedOut);
  EXPECT_EQ(file_->device(gpu(1)).call.load(), 0u);
  EXPECT_EQ(file_->device(gpu(2)).call.load(), 0u);
  EXPECT_EQ(keeper_->unkillable(), 0u);
  EXPECT_THAT(
      events(),
      ElementsAre(
          fmt::format("timed_out {} nvmlDeviceGetPowerUsage has not returned for 2.0 s", gpu(1)),
          fmt::format("part_ended {} sampler: killed by signal 9 (Killed)", part())));
  // It is tried again after 30 s.
  pass(29 * kSecond);
  EXPECT_EQ(lives_.size(), 2u);
  pass(2 * kSecond);
  ASSERT_EQ(lives_.size(), 3u);
  EXPECT_THAT(life().orders.fenced, IsEmpty());
}

TEST_F(KeeperTest, CallOfAMigInstanceFencesItsGpu) {
  const std::uint32_t mig = file_->slots(Scope::kGpu, gpu(1))[2];
  file_->set_status(mig, DeviceStatus::kOk, 1);
  leave_crumb(mig, Call::kDeviceGetMemoryInfo);
  pass(3 * kSecond);
  EXPECT_THAT(life().orders.fenced, ElementsAre(gpu(1)));
  EXPECT_EQ(status(1), DeviceStatus::kTimedOut);
  EXPECT_EQ(file_->device(mig).status.load(), static_cast<std::uint64_t>(DeviceStatus::kTimedOut));
}

TEST_F(KeeperTest, CallOfAThreadForAllGpusFencesTheOneThatItIsAbout) {
  leave_crumb(part(), Call::kDeviceGetPcieThroughput, sampler::slot_mark(gpu(2)));
  pass(3 * kSecond);
  EXPECT_THAT(life().orders.fenced, ElementsAre(gpu(2)));
}

TEST_F(KeeperTest, HangingStartOfTheLibraryIsTriedAgainLaterEachTime) {
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 9; ++i) {
    leave_crumb(0, Call::kInit);
    pass(30 * kSecond);
    const std::size_t before = lives_.size();
    pass(1);
    EXPECT_EQ(lives_.size(), before);
    EXPECT_EQ(status(0), DeviceStatus::kTimedOut);
    std::int64_t waited = 0;
    for (; lives_.size() == before; ++waited)
      pass(kSecond);
    waits.push_back(waited);
    EXPECT_THAT(life().orders.fenced, IsEmpty());
  }
  EXPECT_THAT(waits, ElementsAre(5, 10, 20, 40, 80, 160, 320, 600, 600));
}

TEST_F(KeeperTest, HangingStartThatCannotBeKilledIsNotTriedAgainBeforeItIsGone) {
  life().ends_when_asked = life().can_be_killed = false;
  Life& held = life();
  leave_crumb(0, Call::kInit);
  pass(31 * kSecond);
  for (int i = 0; i < 60; ++i)
    pass(kMinute);
  EXPECT_EQ(lives_.size(), 1u);
  EXPECT_EQ(keeper_->unkillable(), 1u);
  held.ending = Ending{137, "killed by signal 9 (Killed)"};
  pass(kSecond);
  EXPECT_EQ(keeper_->unkillable(), 0u);
  EXPECT_EQ(lives_.size(), 2u);
}

TEST_F(KeeperTest, HangingWaitForEventsCostsTheEventsAlone) {
  life().ends_when_asked = life().can_be_killed = false;
  leave_crumb(0, Call::kEventSetWait);
  pass(4 * kSecond);
  EXPECT_EQ(lives_.size(), 1u) << "it waits half a second by design";
  pass(1);
  ASSERT_EQ(lives_.size(), 2u);
  EXPECT_FALSE(life().orders.has_events);
  EXPECT_THAT(life().orders.fenced, IsEmpty());
  EXPECT_EQ(status(0), DeviceStatus::kOk);
  pass(10 * kMinute);
  EXPECT_EQ(lives_.size(), 2u) << "the process that cannot be killed still holds them";
  lives_[0]->ending = Ending{137, "killed by signal 9 (Killed)"};
  pass(kSecond);
  ASSERT_EQ(lives_.size(), 3u);
  EXPECT_TRUE(life().orders.has_events);
}

TEST_F(KeeperTest, KeepsAndCountsNeverMoreThanOneUnkillableProcessAGpu) {
  next_.ends_when_asked = next_.can_be_killed = false;
  life().ends_when_asked = life().can_be_killed = false;
  leave_crumb(gpu(1), Call::kDeviceGetPowerUsage);
  pass(3 * kSecond);
  ASSERT_EQ(lives_.size(), 2u) << "the others go on at once";
  EXPECT_EQ(keeper_->unkillable(), 1u);
  leave_crumb(gpu(2), Call::kDeviceGetPowerUsage);
  pass(3 * kSecond);
  ASSERT_EQ(lives_.size(), 3u);
  EXPECT_EQ(keeper_->unkillable(), 2u);
  EXPECT_THAT(life().orders.fenced, ElementsAre(gpu(1), gpu(2)));
  for (int i = 0; i < 120; ++i)
    pass(kMinute);
  EXPECT_EQ(lives_.size(), 3u) << "neither is tried again while it is held";
  EXPECT_THAT(events(), testing::Contains(HasSubstr("cannot be killed")).Times(2));
  const recorder::PartSlot& supervisor = file_->part(recorder::Part::kSupervisor);
  EXPECT_EQ(supervisor.unkillable.load(), 2u);
  // One of them is let go: its GPU is tried again, the other is not.
  next_ = {};
  life().ends_when_asked = true;
  lives_[0]->ending = Ending{137, "killed by signal 9 (Killed)"};
  pass(kSecond);
  EXPECT_EQ(keeper_->unkillable(), 1u);
  EXPECT_EQ(supervisor.unkillable.load(), 1u);
  ASSERT_EQ(lives_.size(), 4u);
  EXPECT_THAT(life().orders.fenced, ElementsAre(gpu(2)));
}

TEST_F(KeeperTest, SecondCrashOnTheSameGpuWithinAMinuteFencesIt) {
  crash(gpu(0));
  ASSERT_EQ(lives_.size(), 2u);
  EXPECT_THAT(life().orders.fenced, IsEmpty());
  EXPECT_THAT(events(), ElementsAre(HasSubstr("(Segmentation fault) in nvmlDeviceGetPowerUsage")));
  EXPECT_EQ(file_->device(gpu(0)).call.load(), 0u);
  crash(gpu(0));
  ASSERT_EQ(lives_.size(), 3u);
  EXPECT_THAT(life().orders.fenced, ElementsAre(gpu(0)));
  EXPECT_EQ(status(0), DeviceStatus::kFailed);
  EXPECT_EQ(status(1), DeviceStatus::kOk);
  EXPECT_THAT(events().back(), HasSubstr("crashed again in nvmlDeviceGetPowerUsage"));
}

TEST_F(KeeperTest, CrashesOnDifferentGpusOrByTheHandOfSomebodyFenceNone) {
  crash(gpu(0));
  crash(gpu(1));
  EXPECT_THAT(life().orders.fenced, IsEmpty());
  for (int i = 0; i < 2; ++i) {
    leave_crumb(gpu(2), Call::kDeviceGetPowerUsage);
    life().ending = Ending{137, "killed by signal 9 (Killed)"};
    pass(kSecond);
    pass(11 * kSecond);
  }
  EXPECT_THAT(life().orders.fenced, IsEmpty());
  EXPECT_EQ(lives_.size(), 5u);
}

TEST_F(KeeperTest, DrainedStaysSoUntilItIsResumed) {
  file_->set_status(gpu(2), DeviceStatus::kGone, 1);
  ASSERT_TRUE(keeper_->drain());
  EXPECT_TRUE(life().is_collected);
  EXPECT_EQ(status(0), DeviceStatus::kDrained);
  EXPECT_EQ(status(2), DeviceStatus::kGone);
  pass(kMinute);
  EXPECT_EQ(lives_.size(), 1u);
  EXPECT_EQ(keeper_->process(), nullptr);
  ASSERT_TRUE(keeper_->drain()) << "once more changes nothing";
  keeper_->resume();
  EXPECT_EQ(lives_.size(), 2u);
  EXPECT_THAT(events(),
              ElementsAre(HasSubstr("part_ended"), HasSubstr("drained 0"), HasSubstr("resumed 0")));
}

TEST_F(KeeperTest, DrainSaysWhichProcessStillHoldsTheDriver) {
  life().ends_when_asked = life().can_be_killed = false;
  leave_crumb(gpu(1), Call::kDeviceGetPowerUsage);
  const base::Status drained = keeper_->drain();
  ASSERT_FALSE(drained);
  EXPECT_THAT(drained.error().message, HasSubstr("process 101 cannot be killed"));
  lives_[0]->ending = Ending{137, "killed by signal 9 (Killed)"};
  EXPECT_TRUE(keeper_->drain());
}

TEST_F(KeeperTest, ResumeTriesWhatWasFencedAtOnce) {
  leave_crumb(gpu(1), Call::kDeviceGetPowerUsage);
  pass(3 * kSecond);
  EXPECT_THAT(life().orders.fenced, ElementsAre(gpu(1)));
  ASSERT_TRUE(keeper_->drain());
  keeper_->resume();
  EXPECT_THAT(life().orders.fenced, IsEmpty());
}

TEST_F(KeeperTest, OneThatLacksASlotWaitsForALargerRecorder) {
  life().ending = Ending{kNoSlotLeft, "exit status 10"};
  pass(kMinute);
  EXPECT_TRUE(keeper_->needs_slots());
  EXPECT_EQ(lives_.size(), 1u);
  const auto larger = *recorder::File::create_anonymous(recorder::live_layout({.gpus = 11}));
  keeper_->continue_on(*larger, SamplerKeeper::Slots::kMore);
  ASSERT_EQ(lives_.size(), 2u);
  EXPECT_FALSE(life().orders.has_fixed_slots);
  EXPECT_EQ(larger->part(recorder::Part::kSampler).pid.load(), 102u);
  // There is none: it does without.
  life().ending = Ending{kNoSlotLeft, "exit status 10"};
  pass(kSecond);
  keeper_->continue_on(*larger, SamplerKeeper::Slots::kFixed);
  ASSERT_EQ(lives_.size(), 3u);
  EXPECT_TRUE(life().orders.has_fixed_slots);
}

TEST_F(KeeperTest, NothingIsStartedAtTheEnd) {
  life().ends_when_asked = false;
  keeper_->ask_to_end();
  EXPECT_FALSE(keeper_->wait_for_end(0));
  keeper_->kill();
  EXPECT_TRUE(keeper_->wait_for_end(0));
  pass(kMinute);
  EXPECT_EQ(lives_.size(), 1u);
}

}  // namespace
}  // namespace everywatt::app
