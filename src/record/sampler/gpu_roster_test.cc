// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/gpu_roster.h"

#include <gtest/gtest.h>

#include "record/sampler/lanes_fixture.h"

namespace everywatt::sampler {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;
constexpr const char* kA = "0000:01:00.0";
constexpr const char* kB = "0000:02:00.0";
constexpr const char* kC = "0000:03:00.0";

class GpuRosterTest : public LanesFixture {
 protected:
  GpuRosterTest() { make_file(2); }
};

TEST_F(GpuRosterTest, GivesFreePlacesInOrderAndEachGpuItsOwn) {
  GpuRoster roster(*file_);
  EXPECT_EQ(roster.take(kA, 1), 0u);
  EXPECT_EQ(roster.take(kB, 1), 1u);
  EXPECT_EQ(roster.take(kA, 1), 0u);
  EXPECT_EQ(roster.take(kC, 1), std::nullopt);
  EXPECT_EQ(roster.address(1), kB);
}

TEST_F(GpuRosterTest, PlaceOfAGpuThatIsGoneIsGivenAwayAfterAQuarterOfAnHour) {
  GpuRoster roster(*file_);
  roster.take(kA, 0);
  roster.take(kB, 0);
  roster.set_presence(1, Presence::kAbsent, kMinute);
  EXPECT_EQ(roster.take(kC, 10 * kMinute), std::nullopt);
  EXPECT_EQ(roster.take(kB, 10 * kMinute), 1u);
  roster.set_presence(1, Presence::kAbsent, 20 * kMinute);
  EXPECT_EQ(roster.take(kC, 36 * kMinute), 1u);
  EXPECT_EQ(roster.address(1), kC);
}

TEST_F(GpuRosterTest, GpuThatComesBackElsewhereIsFoundByItsUuid) {
  GpuRoster roster(*file_);
  roster.take(kA, 0);
  roster.set_uuid(0, "GPU-1");
  EXPECT_EQ(roster.find_absent("GPU-1"), std::nullopt) << "it is there";
  roster.set_presence(0, Presence::kAbsent, kMinute);
  EXPECT_EQ(roster.take(kC, kMinute), 1u);
  ASSERT_EQ(roster.find_absent("GPU-1"), 0u);
  EXPECT_EQ(roster.find_absent("GPU-2"), std::nullopt);
  roster.move(1, 0);
  EXPECT_EQ(roster.address(0), kC);
  EXPECT_EQ(roster.address(1), "");
  EXPECT_EQ(roster.take(kB, kMinute), 1u);
}

TEST_F(GpuRosterTest, RemembersWhatTheRowsTell) {
  begin(device("gemm") + device("fed"), 2);
  run_until_ms(500);
  const std::string uuid(row(slot(1), catalog::Lane::kOnce).text(catalog::MetricId::gpu_uuid));
  GpuRoster roster(*file_);
  EXPECT_EQ(roster.address(0), kA);
  EXPECT_EQ(roster.take(kB, 1), 1u);
  EXPECT_EQ(roster.take(kA, 1), 0u);
  roster.set_presence(1, Presence::kAbsent, 1);
  EXPECT_EQ(roster.find_absent(uuid), 1u);
}

TEST(SysfsAddress, IsTheDriversWithFourDigitsOfDomainWhereTheyAreEnough) {
  EXPECT_EQ(sysfs_address("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(sysfs_address("00010000:01:00.0"), "10000:01:00.0");
  EXPECT_EQ(sysfs_address("0000:01:00.0"), "0000:01:00.0");
  EXPECT_EQ(sysfs_address(""), "");
}

}  // namespace
}  // namespace everywatt::sampler
