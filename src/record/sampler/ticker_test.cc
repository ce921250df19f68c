// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/ticker.h"

#include <gtest/gtest.h>

namespace everywatt::sampler {
namespace {

TEST(Ticker, FirstTickIsTheNextOnTheGrid) {
  EXPECT_EQ(Ticker(100, 0, 1'050).next_ns(), 1'100);
  EXPECT_EQ(Ticker(100, 0, 1'100).next_ns(), 1'100);
  EXPECT_EQ(Ticker(100, 30, 1'100).next_ns(), 1'130);
  EXPECT_EQ(Ticker(100, 30, 1'131).next_ns(), 1'230);
  EXPECT_EQ(Ticker(100, 230, 1'131).next_ns(), 1'230);
}

TEST(Ticker, PeriodsThatDivideEachOtherTickTogether) {
  EXPECT_EQ(Ticker(1'000, 0, 12'345).next_ns() % 200, 0);
  EXPECT_EQ(Ticker(200, 0, 12'345).next_ns() % 200, 0);
}

TEST(Ticker, LateTickDoesNotMoveTheGrid) {
  Ticker ticker(100, 0, 1'000);
  const Ticker::Tick on_time = ticker.take(1'010);
  EXPECT_EQ(on_time.late_ns, 10);
  EXPECT_FALSE(on_time.is_late);
  const Ticker::Tick late = ticker.take(1'150);
  EXPECT_EQ(late.late_ns, 50);
  EXPECT_TRUE(late.is_late);
  EXPECT_EQ(late.missed, 0u);
  EXPECT_EQ(ticker.next_ns(), 1'200);
}

TEST(Ticker, MissedTicksAreCountedAndNotMadeUpFor) {
  Ticker ticker(100, 0, 1'000);
  const Ticker::Tick tick = ticker.take(1'350);
  EXPECT_EQ(tick.missed, 3u);
  EXPECT_TRUE(tick.is_late);
  EXPECT_FALSE(ticker.is_due(1'399));
  EXPECT_EQ(ticker.next_ns(), 1'400);
}

TEST(Ticker, AnotherPeriodStartsOnItsOwnGrid) {
  Ticker ticker(1'000, 0, 1'001);
  ticker.set_period(100, 1'250);
  EXPECT_EQ(ticker.next_ns(), 1'300);
  ticker.set_period(1'000, 1'310);
  EXPECT_EQ(ticker.next_ns(), 2'000);
  ticker.set_period(1'000, 2'500);
  EXPECT_EQ(ticker.next_ns(), 2'000) << "the same period changes nothing";
}

TEST(Ticker, HurriedTickIsExtra) {
  Ticker ticker(100, 0, 1'001);
  ticker.hurry(1'040);
  EXPECT_TRUE(ticker.is_due(1'040));
  EXPECT_EQ(ticker.take(1'040).late_ns, 0);
  EXPECT_EQ(ticker.next_ns(), 1'100);
  ticker.hurry(1'200);
  EXPECT_EQ(ticker.next_ns(), 1'100) << "what is due earlier stays";
}

}  // namespace
}  // namespace everywatt::sampler
