// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/taker.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "read/view/view_fixture.h"
#include "serve/exporter/remote_write_fixture.h"

namespace everywatt::remote_write {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using exporter::TimedValue;
using view::kMs;
using view::kSecond;

constexpr std::int64_t kWall = 1'700'006'400;  // seconds since 1970 at the machine's start

// What a destination has queued, series by series, in seconds since the machine's start.
using Got = std::map<std::string, std::vector<std::string>>;

std::string show(const TimedValue& sample) {
  const double at = static_cast<double>(sample.time_ms - kWall * 1000) / 1000;
  if (sample.bits == exporter::kStaleBits) return fmt::format("end@{}", at);
  return fmt::format("{}@{}", std::bit_cast<double>(sample.bits), at);
}

class TakerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set_wall(kWall * kSecond);
    machine_.name_gpu(0, kSecond, "GPU-1", "00000000:06:00.0");
    options_.name = "central";
    options_.step_ns = 10 * kSecond;
    options_.metrics = {"gpu_power_watts", "gpu_temperature_celsius", "gpu_process_memory_bytes",
                        "gpu_energy_joules_total"};
  }

  void set_wall(std::int64_t offset_ns) {
    machine_.file().header().wall_offset_ns.store(static_cast<std::uint64_t>(offset_ns));
  }
  void add_powers(std::int64_t from_ns, std::int64_t to_ns, std::int64_t period_ns = 100 * kMs) {
    for (std::int64_t at = from_ns; at <= to_ns; at += period_ns)
      machine_.add_power(0, at, static_cast<double>(at / (100 * kMs)));
  }

  Taker make(const Moment& last = {}) {
    return Taker(
        options_, {.hostname = "node7"}, last,
        {.append = [this](auto bodies, const Moment& moment) { return append(bodies, moment); },
         .samples_at_most = [this] { return samples_at_most_; }});
  }
  base::Status append(std::span<const exporter::Body> bodies, const Moment& moment) {
    if (is_full_) return base::fail(base::Code::kIo, "no space");
    moments_.push_back(moment);
    for (const exporter::Body& body : bodies) {
      sizes_.push_back(body.samples);
      for (const exporter::DecodedSeries& series : exporter::decode(body.bytes)) {
        std::string name;
        for (const auto& [label, value] : series.labels) {
          if (label == "__name__") name = value + name;
          if (label == "pid" || label == "job" || label == "instance") name += "," + value;
        }
        for (const TimedValue& sample : series.samples)
          got_[name].push_back(show(sample));
      }
    }
    return {};
  }
  // Steps as the thread would until nothing is due; what that gave.
  Got run(Taker& taker, std::int64_t now_ns) {
    got_.clear();
    const auto view = machine_.view(now_ns);
    for (int i = 0; i < 10'000; ++i) {
      next_ns_ = taker.step(*view, now_ns);
      if (next_ns_ > now_ns) return got_;
    }
    ADD_FAILURE() << "it never ends";
    return got_;
  }

  view::Machine machine_;
  Options options_;
  std::vector<Moment> moments_;
  std::vector<std::size_t> sizes_;
  Got got_;
  std::int64_t next_ns_ = 0;
  std::size_t samples_at_most_ = 2000;
  bool is_full_ = false;
};

using Samples = std::vector<std::string>;
constexpr const char* kPower = "gpu_power_watts,node7,everywatt";

TEST_F(TakerTest, TakesWhatAScrapeShowsAtEachMultipleOfItsStep) {
  add_powers(99 * kSecond, 130 * kSecond);
  Taker taker = make();
  EXPECT_EQ(run(taker, 101 * kSecond)[kPower], (Samples{"1000@100"}));
  EXPECT_EQ(next_ns_, 110 * kSecond + Taker::kSettleNs);
  EXPECT_EQ(run(taker, 110 * kSecond + Taker::kSettleNs - 1)[kPower], (Samples{}));
  EXPECT_EQ(run(taker, 125 * kSecond)[kPower], (Samples{"1100@110", "1200@120"}));
  EXPECT_EQ(moments_.back().wall_ms, (kWall + 120) * 1000);
  EXPECT_EQ(moments_.back().boot_ns, 120 * kSecond);
}

TEST_F(TakerTest, GoesOnWhereAnEarlierProcessStopped) {
  add_powers(50 * kSecond, 160 * kSecond);
  {
    Taker taker = make();
    run(taker, 101 * kSecond);
  }
  Taker taker = make(moments_.back());
  EXPECT_EQ(run(taker, 141 * kSecond)[kPower],
            (Samples{"1100@110", "1200@120", "1300@130", "1400@140"}));
}

TEST_F(TakerTest, OfWhatTheRecorderDoesNotHoldAnyMoreNothingIsTold) {
  options_.step_ns = 60 * kSecond;
  add_powers(2000 * kSecond, 2100 * kSecond, kSecond);
  Taker taker = make({.wall_ms = (kWall + 60) * 1000,
                      .boot_ns = 60 * kSecond,
                      .boot = boot_number(machine_.view()->recorder().boot_id())});
  EXPECT_EQ(run(taker, 2101 * kSecond)[kPower], (Samples{"20400@2040", "21000@2100"}));
  EXPECT_LE(moments_.size(), 2u);
}

TEST_F(TakerTest, TheFirstMomentsOfAnotherBootAreCaughtUpWith) {
  add_powers(5 * kSecond, 31 * kSecond);
  Taker taker = make({.wall_ms = (kWall - 100) * 1000, .boot_ns = 9000 * kSecond, .boot = 1});
  EXPECT_EQ(run(taker, 31 * kSecond)[kPower], (Samples{"100@10", "200@20", "300@30"}));
}

TEST_F(TakerTest, ASeriesEndsWhenItsReadingDoes) {
  add_powers(95 * kSecond, 104 * kSecond);
  Taker taker = make();
  EXPECT_EQ(run(taker, 101 * kSecond)[kPower], (Samples{"1000@100"}));
  EXPECT_EQ(run(taker, 111 * kSecond)[kPower], (Samples{"end@110"}));
  EXPECT_EQ(run(taker, 121 * kSecond)[kPower], (Samples{}));
  add_powers(125 * kSecond, 130 * kSecond);
  EXPECT_EQ(run(taker, 131 * kSecond)[kPower], (Samples{"1300@130"}));
}

TEST_F(TakerTest, ASeriesEndsWhenItsProcessDoes) {
  const auto list = [this](std::int64_t time_ns, std::vector<std::uint64_t> pids) {
    std::uint64_t index = 0;
    for (const std::uint64_t pid : pids) {
      machine_.add_gpu(0, Lane::kProcess, time_ns, [&](Row& row) {
        row.set(MetricId::process_index, index++);
        row.set(MetricId::process_count, std::uint64_t{pids.size()});
        row.set(MetricId::process_pid, pid);
        row.set(MetricId::process_memory_bytes, pid * 1000);
      });
    }
  };
  list(100 * kSecond, {11, 12});
  list(109 * kSecond + 500 * kMs, {12});
  Taker taker = make();
  const std::string name = "gpu_process_memory_bytes,node7,everywatt,";
  Got first = run(taker, 101 * kSecond);
  EXPECT_EQ(first[name + "11"], (Samples{"11000@100"}));
  EXPECT_EQ(first[name + "12"], (Samples{"12000@100"}));
  Got second = run(taker, 111 * kSecond);
  EXPECT_EQ(second[name + "11"], (Samples{"end@110"}));
  EXPECT_EQ(second[name + "12"], (Samples{"12000@110"}));
}

TEST_F(TakerTest, ASeriesEndsWhenItsGpuIsGone) {
  add_powers(95 * kSecond, 110 * kSecond);
  Taker taker = make();
  run(taker, 101 * kSecond);
  machine_.file().set_status(machine_.gpu(), recorder::DeviceStatus::kGone, 105 * kSecond);
  EXPECT_EQ(run(taker, 111 * kSecond)[kPower], (Samples{"end@110"}));
}

TEST_F(TakerTest, ASeriesEndsThatEndedWhileNobodyWasThere) {
  add_powers(95 * kSecond, 101 * kSecond);
  {
    Taker taker = make();
    run(taker, 101 * kSecond);
  }
  Taker taker = make(moments_.back());
  EXPECT_EQ(run(taker, 115 * kSecond)[kPower], (Samples{"end@110"}));
}

TEST_F(TakerTest, BelowASecondEachReadingIsToldOnceWithItsOwnTime) {
  options_.step_ns = 100 * kMs;
  add_powers(99 * kSecond + 50 * kMs, 101 * kSecond + 950 * kMs);
  machine_.add_gpu(0, Lane::kSlow, 95 * kSecond,
                   [](Row& row) { row.set(MetricId::gpu_energy_joules_total, 7.0); });
  Taker taker = make();
  Got got = run(taker, 100 * kSecond + 300 * kMs);
  ASSERT_EQ(got[kPower].size(), 10u);
  EXPECT_EQ(got[kPower].front(), "990@99.05");
  EXPECT_EQ(got[kPower].back(), "999@99.95");
  EXPECT_EQ(got["gpu_energy_joules_total,node7,everywatt"], (Samples{"7@100"}));
  got = run(taker, 101 * kSecond + 300 * kMs);
  ASSERT_EQ(got[kPower].size(), 10u);
  EXPECT_EQ(got[kPower].front(), "1000@100.05");
  // In between a process may be replaced.
  Taker next = make(moments_.back());
  got = run(next, 103 * kSecond + 300 * kMs);
  ASSERT_EQ(got[kPower].size(), 11u);
  EXPECT_EQ(got[kPower].front(), "1010@101.05");
  EXPECT_EQ(got[kPower][9], "1019@101.95");
  EXPECT_EQ(got[kPower].back(), "end@103");
}

TEST_F(TakerTest, AReadingThatDidNotMoveIsNoNewSample) {
  options_.step_ns = 100 * kMs;
  const auto add = [this](std::int64_t time_ns, bool is_new) {
    machine_.add_gpu(0, Lane::kGauge, time_ns, [&](Row& row) {
      if (is_new) row.set(MetricId::gpu_temperature_celsius, 50.0);
      if (!is_new) {
        row.set_absent(MetricId::gpu_temperature_celsius, catalog::State::kNoNewValue);
      }
    });
  };
  for (int i = 0; i < 10; ++i)
    add(100 * kSecond + i * 100 * kMs + kMs, i % 2 == 0);
  Taker taker = make();
  EXPECT_EQ(run(taker, 101 * kSecond + 300 * kMs)["gpu_temperature_celsius,node7,everywatt"],
            (Samples{"50@100.001", "50@100.201", "50@100.401", "50@100.601", "50@100.801"}));
}

TEST_F(TakerTest, ADiskThatTakesNothingCostsNothingWhileTheRecorderHasIt) {
  add_powers(95 * kSecond, 150 * kSecond);
  Taker taker = make();
  is_full_ = true;
  EXPECT_EQ(run(taker, 105 * kSecond), Got());
  EXPECT_EQ(next_ns_, 106 * kSecond);
  EXPECT_EQ(run(taker, 125 * kSecond), Got());
  is_full_ = false;
  EXPECT_EQ(run(taker, 141 * kSecond)[kPower],
            (Samples{"1000@100", "1100@110", "1200@120", "1300@130", "1400@140"}));
}

TEST_F(TakerTest, AClockThatIsSetForwardDoesNotTellThePastAgain) {
  add_powers(95 * kSecond, 150 * kSecond);
  Taker taker = make();
  run(taker, 111 * kSecond);
  set_wall((kWall + 3600) * kSecond);
  EXPECT_EQ(run(taker, 131 * kSecond)[kPower], (Samples{"1200@3720", "1300@3730"}));
}

TEST_F(TakerTest, AClockThatIsSetBackALittleIsWaitedFor) {
  add_powers(95 * kSecond, 150 * kSecond);
  Taker taker = make();
  run(taker, 111 * kSecond);
  set_wall((kWall - 20) * kSecond);
  EXPECT_EQ(run(taker, 139 * kSecond)[kPower], (Samples{}));
  EXPECT_EQ(run(taker, 141 * kSecond)[kPower], (Samples{"1400@120"}));
}

TEST_F(TakerTest, AClockThatIsSetFarBackIsFollowed) {
  add_powers(95 * kSecond, 150 * kSecond);
  Taker taker = make();
  run(taker, 111 * kSecond);
  set_wall((kWall - 3600) * kSecond);
  EXPECT_EQ(run(taker, 131 * kSecond)[kPower], (Samples{"1200@-3480", "1300@-3470"}));
}

TEST_F(TakerTest, NoBodyIsLargerThanTheReceiverTakes) {
  options_.metrics.clear();
  add_powers(95 * kSecond, 101 * kSecond);
  samples_at_most_ = 2;
  Taker taker = make();
  run(taker, 101 * kSecond);
  ASSERT_GT(sizes_.size(), 1u);
  for (const std::size_t size : sizes_)
    EXPECT_LE(size, 2u);
  EXPECT_EQ(moments_.size(), 1u);
}

TEST(AddedLabels, TellMachinesApartAsAScrapeWould) {
  Options options;
  using Labels = exporter::Labels;
  EXPECT_EQ(added_labels(options, "node7"), (Labels{{"job", "everywatt"}, {"instance", "node7"}}));
  options.labels = {{"instance", ""}, {"cluster", "a"}};
  EXPECT_EQ(added_labels(options, "node7"),
            (Labels{{"instance", ""}, {"cluster", "a"}, {"job", "everywatt"}}));
}

TEST(BootNumber, IsTheSameForEver) {
  EXPECT_EQ(boot_number(""), 0xcbf29ce484222325u);
  EXPECT_EQ(boot_number("a"), 0xaf63dc4c8601ec8cu);
}

}  // namespace
}  // namespace everywatt::remote_write
