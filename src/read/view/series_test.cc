// SPDX-License-Identifier: Apache-2.0
#include "read/view/series.h"

#include <gtest/gtest.h>

#include "read/view/view_fixture.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::State;

Point point(std::int64_t time_ns, double value, std::uint64_t bits = 0) {
  return {.time_ns = time_ns,
          .window_start_ns = 0,
          .window_end_ns = 0,
          .state = State::kOk,
          .value = value,
          .bits = bits,
          .samples = 1};
}

Point absent(std::int64_t time_ns, State state) {
  Point point;
  point.time_ns = time_ns;
  point.state = state;
  return point;
}

std::vector<double> values(const std::vector<Point>& points) {
  std::vector<double> found;
  for (const Point& point : points)
    found.push_back(point.value);
  return found;
}

TEST(Series, GivesEachRowAsItWasRecorded) {
  Machine machine;
  for (int i = 0; i < 5; ++i)
    machine.add_power(0, (10 + i) * kSecond, 100 + i);
  const auto view = machine.view();
  const Series series = read_series(*view, view->handle(machine.gpu(), MetricId::gpu_power_watts),
                                    {.from_ns = 11 * kSecond, .to_ns = 13 * kSecond});
  ASSERT_EQ(series.points.size(), 2u);
  EXPECT_EQ(series.points[0].time_ns, 12 * kSecond);
  EXPECT_EQ(series.points[0].value, 102);
  EXPECT_EQ(series.points[1].value, 103);
  EXPECT_EQ(series.reaches_back_to_ns, 0);
}

TEST(Series, SaysWhereItsRingBegins) {
  Machine machine;
  machine.add_power(0, 10 * kSecond, 1);
  const auto view = machine.view();
  const Series series = read_series(*view, view->handle(machine.gpu(), MetricId::gpu_power_watts),
                                    {.from_ns = kSecond, .to_ns = 20 * kSecond});
  EXPECT_EQ(series.reaches_back_to_ns, 10 * kSecond);
}

TEST(Series, ARepeatIsNoSampleAndAReasonIsGivenOnce) {
  Machine machine;
  const auto util = MetricId::gpu_utilization_ratio;
  machine.add_gpu(0, Lane::kGauge, 1 * kSecond, [&](Row& row) { row.set(util, 0.25); });
  machine.add_gpu(0, Lane::kGauge, 2 * kSecond,
                  [&](Row& row) { row.set_absent(util, State::kNoNewValue); });
  machine.add_power(0, 3 * kSecond, 1);
  for (int i = 4; i < 7; ++i) {
    machine.add_gpu(0, Lane::kGauge, i * kSecond,
                    [&](Row& row) { row.set_absent(util, State::kLost); });
  }
  machine.add_gpu(0, Lane::kGauge, 7 * kSecond, [&](Row& row) { row.set(util, 0.75); });
  const auto view = machine.view();
  const Series series =
      read_series(*view, view->handle(machine.gpu(), util), {.from_ns = 0, .to_ns = 10 * kSecond});
  ASSERT_EQ(series.points.size(), 3u);
  EXPECT_EQ(series.points[0].value, 0.25);
  EXPECT_EQ(series.points[1].state, State::kLost);
  EXPECT_EQ(series.points[1].time_ns, 4 * kSecond);
  EXPECT_EQ(series.points[2].value, 0.75);
}

TEST(Series, TheLimitKeepsTheNewest) {
  Machine machine;
  for (int i = 1; i <= 10; ++i)
    machine.add_power(0, i * kSecond, i);
  const auto view = machine.view();
  const Series series = read_series(*view, view->handle(machine.gpu(), MetricId::gpu_power_watts),
                                    {.from_ns = 0, .to_ns = 10 * kSecond, .limit = 3});
  EXPECT_EQ(values(series.points), (std::vector<double>{8, 9, 10}));
}

TEST(Series, StepsFollowTheKindOfTheMetric) {
  struct Case {
    const char* name;
    MetricId id;
    std::vector<Point> points;
    Reduce reduce;
    std::vector<double> expected;
  };
  const std::vector<Point> four = {point(1, 1), point(2, 3), point(3, 10), point(4, 4)};
  const Case cases[] = {
      {"gauge: mean", MetricId::gpu_power_watts, four, Reduce::kByKind, {2, 7}},
      {"counter: last", MetricId::gpu_energy_joules_total, four, Reduce::kByKind, {3, 4}},
      {"state: last", MetricId::gpu_performance_state, four, Reduce::kByKind, {3, 4}},
      {"mask: or",
       MetricId::gpu_clock_event_reasons_mask,
       {point(1, 1, 1), point(2, 4, 4), point(3, 8, 8)},
       Reduce::kByKind,
       {5, 8}},
      {"min", MetricId::gpu_power_watts, four, Reduce::kMin, {1, 4}},
      {"max", MetricId::gpu_power_watts, four, Reduce::kMax, {3, 10}},
      {"increase, with a restart",
       MetricId::gpu_energy_joules_total,
       four,
       Reduce::kIncrease,
       {2, 11}},
      {"an empty step gives no point",
       MetricId::gpu_power_watts,
       {point(1, 1), point(8, 2)},
       Reduce::kByKind,
       {1, 2}},
  };
  for (const Case& test : cases) {
    const auto steps = resample(test.points, metric(test.id),
                                {.from_ns = 0, .to_ns = 10, .step_ns = 2, .reduce = test.reduce});
    EXPECT_EQ(values(steps), test.expected) << test.name;
  }
}

TEST(Series, StepsEndAtTheOriginPlusWholeSteps) {
  const auto steps = resample(std::vector<Point>{point(7, 1), point(8, 2), point(12, 3)},
                              metric(MetricId::gpu_power_watts),
                              {.from_ns = 0, .to_ns = 20, .step_ns = 5, .origin_ns = -3});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].time_ns, 7);
  EXPECT_EQ(steps[0].window_start_ns, 2);
  EXPECT_EQ(steps[1].time_ns, 12);
  EXPECT_EQ(steps[1].samples, 2u);
}

TEST(Series, AStepWithReasonsAloneIsAbsent) {
  const auto steps =
      resample(std::vector<Point>{absent(1, State::kLost), point(2, 4), absent(3, State::kLost)},
               metric(MetricId::gpu_power_watts), {.from_ns = 0, .to_ns = 4, .step_ns = 2});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].value, 4);
  EXPECT_EQ(steps[0].samples, 1u);
  EXPECT_EQ(steps[1].state, State::kLost);
}

TEST(Series, AMeanWeighsReadingsByTheirWindows) {
  Point brief = point(1, 1.0);
  brief.window_start_ns = 900;
  brief.window_end_ns = 1000;
  Point longer = point(2, 0.0);
  longer.window_start_ns = 1000;
  longer.window_end_ns = 1900;
  const std::vector<Point> points = {brief, longer};
  const auto summary = summarize(points);
  ASSERT_TRUE(summary);
  EXPECT_DOUBLE_EQ(summary->mean, 0.1);
}

TEST(Series, SummarizesWhatWasRead) {
  std::vector<Point> points = {absent(0, State::kLost)};
  for (int i = 1; i <= 100; ++i)
    points.push_back(point(i, i));
  const auto summary = summarize(points);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->samples, 100u);
  EXPECT_DOUBLE_EQ(summary->mean, 50.5);
  EXPECT_EQ(summary->min, 1);
  EXPECT_EQ(summary->max, 100);
  EXPECT_EQ(summary->last, 100);
  EXPECT_DOUBLE_EQ(summary->p50, 50.5);
  EXPECT_DOUBLE_EQ(summary->p99, 99.01);
  EXPECT_EQ(summary->first_ns, 1);
  EXPECT_FALSE(summarize(std::vector<Point>{absent(0, State::kLost)}));
}

TEST(Series, ACounterThatStartedAgainLosesNothingAfter) {
  EXPECT_EQ(compute_increase(std::vector<Point>{point(1, 100), point(2, 130),
                                                absent(3, State::kLost), point(4, 5), point(5, 6)}),
            36);
  EXPECT_EQ(compute_increase(std::vector<Point>{point(1, 100)}), 0);
}

TEST(Series, PercentilesInterpolate) {
  const double sorted[] = {1, 2, 4};
  EXPECT_EQ(percentile(sorted, 0), 1);
  EXPECT_EQ(percentile(sorted, 0.5), 2);
  EXPECT_EQ(percentile(sorted, 0.75), 3);
  EXPECT_EQ(percentile(sorted, 1), 4);
}

}  // namespace
}  // namespace everywatt::view
