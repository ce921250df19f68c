// SPDX-License-Identifier: Apache-2.0
#include "device/sim/playhead.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace everywatt::sim {
namespace {

class PlayheadTest : public testing::Test {
 protected:
  PlayheadTest()
      : path_(testing::TempDir() + "playhead_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~PlayheadTest() override { std::filesystem::remove(path_); }

  Playhead open() {
    auto playhead = Playhead::open(path_);
    EXPECT_TRUE(playhead) << playhead.error().message;
    return std::move(*playhead);
  }

  const std::string path_;
};

TEST_F(PlayheadTest, StandsStillWhenStepped) {
  ASSERT_TRUE(Playhead::create(path_, Pace::kStepped));
  Playhead playhead = open();
  EXPECT_TRUE(playhead.is_stepped());
  EXPECT_EQ(playhead.now().played_ns, 0);
  playhead.step_to(1'234);
  EXPECT_EQ(playhead.now().played_ns, 1'234);
  EXPECT_EQ(playhead.now().wall_ns, playhead.wall_ns(0) + 1'234);
}

TEST_F(PlayheadTest, GoesOnInRealTimeUntilStepped) {
  ASSERT_TRUE(Playhead::create(path_, Pace::kRealTime));
  Playhead playhead = open();
  EXPECT_FALSE(playhead.is_stepped());
  const std::int64_t before = playhead.now().played_ns;
  EXPECT_GE(before, 0);
  EXPECT_GE(playhead.now().played_ns, before);
  playhead.step_to(42);
  EXPECT_EQ(playhead.now().played_ns, 42);
}

TEST_F(PlayheadTest, IsOneForAllWhoOpenIt) {
  ASSERT_TRUE(Playhead::create(path_, Pace::kStepped));
  Playhead one = open();
  Playhead other = open();
  one.step_to(77);
  EXPECT_EQ(other.now().played_ns, 77);
  one.count("nvmlDeviceGetName");
  other.count("nvmlDeviceGetName");
  EXPECT_EQ(one.calls("nvmlDeviceGetName"), 2u);
  EXPECT_EQ(one.calls("nvmlDeviceGetUUID"), 0u);
  EXPECT_EQ(one.count_fault(3), 0u);
  EXPECT_EQ(other.count_fault(3), 1u);
}

TEST_F(PlayheadTest, NamesEveryFunctionInTheFile) {
  ASSERT_TRUE(Playhead::create(path_, Pace::kStepped));
  std::ifstream file(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(bytes.size(), 576 + 64 * kCalls.size());
  EXPECT_EQ(bytes.substr(0, 8), std::string("EWPLAY1\0", 8));
  for (std::size_t i = 0; i < kCalls.size(); ++i) {
    EXPECT_STREQ(bytes.c_str() + 576 + 64 * i, std::string(kCalls[i]).c_str());
  }
}

TEST_F(PlayheadTest, RefusesAnotherFile) {
  std::ofstream(path_) << std::string(20'000, 'x');
  const auto playhead = Playhead::open(path_);
  ASSERT_FALSE(playhead);
  EXPECT_EQ(playhead.error().code, base::Code::kCorrupt);
}

TEST_F(PlayheadTest, RefusesAShortFile) {
  std::ofstream(path_, std::ios::binary).write("EWPLAY1\0", 8);
  EXPECT_FALSE(Playhead::open(path_));
}

TEST(UnsharedPlayhead, RunsInRealTimeFromItsMaking) {
  const Playhead playhead = Playhead::unshared();
  EXPECT_FALSE(playhead.is_stepped());
  EXPECT_LT(playhead.now().played_ns, 60'000'000'000);
}

}  // namespace
}  // namespace everywatt::sim
