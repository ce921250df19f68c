// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/row_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "read/view/view_fixture.h"
#include "serve/exporter/exporter.h"

namespace everywatt::exporter {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using view::kMs;
using view::kSecond;

class Taken : public TimedSink {
 public:
  void set_time(std::int64_t time_ns) override { time_ms_ = time_ns / kMs; }
  void take(std::string_view series, double value) override {
    const std::string_view name = series.substr(0, series.find('{'));
    names.emplace(name);
    lines.push_back(std::string(name) + " " + std::to_string(static_cast<int>(value)) + " @" +
                    std::to_string(time_ms_));
  }
  std::vector<std::string> lines;
  std::set<std::string> names;

 private:
  std::int64_t time_ms_ = 0;
};

using Lines = std::vector<std::string>;

class RowEncoderTest : public ::testing::Test {
 protected:
  void SetUp() override { machine_.name_gpu(0, kSecond, "GPU-1", "00000000:06:00.0"); }

  void add_temperature(std::int64_t time_ns, double celsius) {
    machine_.add_gpu(0, Lane::kGauge, time_ns,
                     [&](Row& row) { row.set(MetricId::gpu_temperature_celsius, celsius); });
  }
  Lines encode(std::int64_t now_ns, std::int64_t from_ns = 0) {
    Taken taken;
    encoder_.encode(*machine_.view(now_ns), from_ns, filter_, taken);
    return taken.lines;
  }

  view::Machine machine_;
  RowEncoder encoder_;
  std::vector<std::string> filter_;
};

TEST_F(RowEncoderTest, GivesEachReadingOnceWithItsOwnTime) {
  for (int i = 1; i <= 4; ++i)
    add_temperature(10 * kSecond + i * 100 * kMs, 50 + i);
  EXPECT_EQ(encode(10 * kSecond + 250 * kMs, 10 * kSecond + 100 * kMs),
            (Lines{"gpu_temperature_celsius 52 @10200"}));
  EXPECT_EQ(encode(11 * kSecond),
            (Lines{"gpu_temperature_celsius 53 @10300", "gpu_temperature_celsius 54 @10400"}));
  EXPECT_EQ(encode(12 * kSecond), (Lines{}));
}

TEST_F(RowEncoderTest, ARowInWhichASourceDidNotMoveGivesNothing) {
  add_temperature(10 * kSecond, 50);
  machine_.add_gpu(0, Lane::kGauge, 10 * kSecond + 100 * kMs, [&](Row& row) {
    row.set_absent(MetricId::gpu_temperature_celsius, catalog::State::kNoNewValue);
    row.set(MetricId::gpu_power_watts, 300.0);
  });
  EXPECT_EQ(encode(11 * kSecond),
            (Lines{"gpu_temperature_celsius 50 @10000", "gpu_power_watts 300 @10100"}));
}

TEST_F(RowEncoderTest, FiltersAsAnExpositionDoes) {
  filter_ = {"gpu_power*"};
  add_temperature(10 * kSecond, 50);
  machine_.add_power(0, 10 * kSecond + 100 * kMs, 300);
  EXPECT_EQ(encode(11 * kSecond), (Lines{"gpu_power_watts 300 @10100"}));
}

TEST_F(RowEncoderTest, OtherLanesAreNotItsOwn) {
  machine_.add_gpu(0, Lane::kSlow, 10 * kSecond,
                   [&](Row& row) { row.set(MetricId::gpu_energy_joules_total, 7.0); });
  EXPECT_EQ(encode(11 * kSecond), (Lines{}));
  EXPECT_FALSE(encoder_.has_family("gpu_energy_joules_total"));
  EXPECT_FALSE(encoder_.has_family("gpu_power_sampled_watts"));
  EXPECT_TRUE(encoder_.has_family("gpu_power_watts"));
  EXPECT_TRUE(encoder_.has_family("gpu_sm_active_ratio"));
}

}  // namespace
}  // namespace everywatt::exporter
