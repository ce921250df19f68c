// SPDX-License-Identifier: Apache-2.0
#include "device/sim/mig_layout.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/sim/profile.h"

namespace everywatt::sim {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kMs = 1'000'000;

std::string gpu(const std::string& profile) {
  return "[[device]]\ntrace = \"gemm\"\nprofile = \"" + profile + "\"\n";
}

std::string mig(const std::string& profiles, const std::string& more = "") {
  return "[[mig]]\nprofiles = \"" + profiles + "\"\n" + more;
}

Scenario parse(const std::string& text) {
  auto scenario = parse_scenario(text, "/sims", "s.toml");
  EXPECT_TRUE(scenario) << scenario.error().message;
  return scenario ? *scenario : Scenario{};
}

std::string error_of(const std::string& text) {
  const auto scenario = parse_scenario(text, "/sims", "s.toml");
  return scenario ? "no error" : scenario.error().message;
}

// "3g.71gb #1 at 4", in the driver's order.
std::vector<std::string> layout(const Scenario& scenario, std::int64_t at_ms = 0) {
  std::vector<std::string> lines;
  for (const MigInstance* one : mig_instances(scenario, 0, at_ms * kMs)) {
    lines.push_back(
        fmt::format("{} #{} at {}", one->profile->name, one->gpu_instance_id, one->first_slice));
  }
  return lines;
}

TEST(MigLayout, PlacesAndNumbersInstancesAsTheDriverDoes) {
  EXPECT_THAT(layout(parse(gpu("a100-40gb") + mig("3g.20gb,3g.20gb"))),
              ElementsAre("3g.20gb #1 at 4", "3g.20gb #2 at 0"));
  EXPECT_THAT(layout(parse(gpu("a100-40gb") + mig("4g.20gb,2g.10gb,1g.5gb"))),
              ElementsAre("4g.20gb #1 at 0", "2g.10gb #5 at 4", "1g.5gb #13 at 6"));
  EXPECT_THAT(layout(parse(gpu("h200") + mig("7g.141gb"))), ElementsAre("7g.141gb #0 at 0"));
  EXPECT_THAT(
      layout(parse(gpu("h100") + mig("1g.10gb,1g.10gb,1g.10gb,1g.10gb,1g.10gb,1g.10gb,"
                                     "1g.10gb"))),
      ElementsAre("1g.10gb #7 at 4", "1g.10gb #8 at 5", "1g.10gb #9 at 6", "1g.10gb #11 at 0",
                  "1g.10gb #12 at 1", "1g.10gb #13 at 2", "1g.10gb #14 at 3"));
}

TEST(MigLayout, EveryProfileOfEveryShapeFillsItsGpu) {
  for (const char* key : {"a100-40gb", "a100", "h100", "h200"}) {
    for (const MigProfile& profile : mig_profiles(key)) {
      std::string names;
      for (unsigned i = 0; i < profile.most; ++i) {
        names += (i == 0 ? "" : ",") + std::string(profile.name);
      }
      EXPECT_EQ(error_of(gpu(key) + mig(names)), "no error") << key << " " << names;
      EXPECT_NE(error_of(gpu(key) + mig(names + "," + std::string(profile.name))), "no error")
          << key << " " << names;
      EXPECT_LE(profile.most * profile.multiprocessors, profile_by_key(key)->multiprocessors);
    }
  }
}

TEST(MigLayout, RefusesWhatIsNoProfileAndWhatDoesNotFitWithTheLine) {
  EXPECT_EQ(error_of(gpu("h200") + mig("3g.72gb")), "s.toml:5: profiles: no MIG profile '3g.72gb'");
  EXPECT_EQ(error_of(gpu("h200") + mig("3g.40gb")),
            "s.toml:4: gpu 0 (h200) has no MIG profile '3g.40gb'");
  EXPECT_EQ(error_of(mig("4g.71gb,4g.71gb") + gpu("h200")),
            "s.toml:1: these profiles do not fit on gpu 0 beside what is there");
  EXPECT_EQ(error_of(gpu("h200") + mig("3g.71gb", "from_ms = 1000\n") +
                     mig("3g.71gb,1g.18gb", "until_ms = 1001\n")),
            "s.toml:4: these profiles do not fit on gpu 0 beside what is there");
  EXPECT_EQ(error_of(gpu("h200") + mig("3g.71gb", "gpu = 1\n")), "s.toml: gpu 1 is no [[device]]");
  EXPECT_EQ(error_of(gpu("h200") + "[[mig]]\ngpu = 0\n"),
            "s.toml:6: the section before has no 'profiles'");
  EXPECT_EQ(error_of(gpu("h200") + mig("3g.71gb", "activity_percent = \"50,101\"\n")),
            "s.toml:6: activity_percent: not percentages with commas between");
  EXPECT_EQ(error_of(gpu("h200") + mig("3g.71gb") + "[[process]]\npid = 9\nmig = 1\n"),
            "s.toml: a [[process]] in mig 1, which no GPU has");
}

TEST(MigLayout, ChangesWithTimeAndKeepsWhatStays) {
  const Scenario scenario =
      parse(gpu("h200") + mig("3g.71gb", "from_ms = 1000\nuntil_ms = 9000\n") +
            mig("4g.71gb", "from_ms = 1000\nuntil_ms = 3000\n") +
            mig("2g.35gb,1g.18gb", "from_ms = 3000\nuntil_ms = 5000\n"));
  EXPECT_FALSE(is_mig_on(scenario, 0, 999 * kMs));
  EXPECT_THAT(layout(scenario, 999), ElementsAre());
  EXPECT_THAT(layout(scenario, 1'000), ElementsAre("3g.71gb #1 at 4", "4g.71gb #2 at 0"));
  const MigInstance* kept = mig_instances(scenario, 0, 1'000 * kMs)[0];
  EXPECT_THAT(layout(scenario, 3'000),
              ElementsAre("3g.71gb #1 at 4", "2g.35gb #5 at 0", "1g.18gb #13 at 2"));
  EXPECT_EQ(mig_instances(scenario, 0, 3'000 * kMs)[0], kept);
  EXPECT_EQ(kept->uuid, "MIG-5ee00000-e0e7-5a77-8000-000000000001");
  EXPECT_THAT(layout(scenario, 5'000), ElementsAre("3g.71gb #1 at 4"));
  EXPECT_FALSE(is_mig_on(scenario, 0, 9'000 * kMs));
}

TEST(MigLayout, TheDriverTellsOfEachChangeOnce) {
  const Scenario scenario = parse(gpu("h200") + gpu("h200") +
                                  mig("3g.71gb", "gpu = 1\nfrom_ms = 1000\nuntil_ms = 2000\n") +
                                  mig("2g.35gb", "gpu = 1\nfrom_ms = 2000\n") +
                                  mig("1g.18gb", "gpu = 0\nfrom_ms = 500\nannounced = false\n"));
  ASSERT_EQ(scenario.events.size(), 2u);
  EXPECT_EQ(scenario.events[0].type, 0x100u);
  EXPECT_EQ(scenario.events[0].gpu, 1u);
  EXPECT_EQ(scenario.events[0].at_ns, 1'000 * kMs);
  EXPECT_EQ(scenario.events[1].at_ns, 2'000 * kMs);
}

TEST(MigLayout, ModeMayBeOnWithoutInstances) {
  const Scenario scenario = parse(gpu("h200") + mig(""));
  EXPECT_TRUE(is_mig_on(scenario, 0, 0));
  EXPECT_EQ(main_mig_instance(scenario, 0, 0), nullptr);
}

TEST(MigLayout, SharesFollowTheActivityAndTheSize) {
  const Scenario scenario =
      parse(gpu("h200") + mig("3g.71gb,4g.71gb", "activity_percent = \"50,100\"\n"));
  const std::vector<const MigInstance*> both = mig_instances(scenario, 0, 0);
  EXPECT_DOUBLE_EQ(mig_share(*both[0], 132).multiprocessors, 0.5 * 60 / 132);
  EXPECT_DOUBLE_EQ(mig_share(*both[1], 132).multiprocessors, 64.0 / 132);
  EXPECT_DOUBLE_EQ(mig_share(*both[0], 132).memory, 0.25);
  EXPECT_DOUBLE_EQ(mig_share(*both[1], 132).memory, 0.5);
  EXPECT_EQ(main_mig_instance(scenario, 0, 0)->number, 0u);
}

}  // namespace
}  // namespace everywatt::sim
