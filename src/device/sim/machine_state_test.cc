// SPDX-License-Identifier: Apache-2.0
#include "device/sim/machine_state.h"

#include <gmock/gmock.h>

namespace everywatt::sim {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kSecond = 1'000'000'000;

Scenario three_gpus() {
  Scenario scenario;
  scenario.devices.resize(3);
  return scenario;
}

TEST(MachineState, GpusComeAndGoAndTheOthersMoveUp) {
  Scenario scenario = three_gpus();
  scenario.devices[0].present.until_ns = 5 * kSecond;
  scenario.devices[2].present.from_ns = 3 * kSecond;
  EXPECT_THAT(indexed_gpus(scenario, 0), ElementsAre(0, 1));
  EXPECT_THAT(indexed_gpus(scenario, 3 * kSecond), ElementsAre(0, 1, 2));
  EXPECT_THAT(indexed_gpus(scenario, 5 * kSecond), ElementsAre(1, 2));
  EXPECT_EQ(index_of(scenario, 2, 4 * kSecond), 2u);
  EXPECT_EQ(index_of(scenario, 2, 5 * kSecond), 1u);
  EXPECT_EQ(index_of(scenario, 0, 5 * kSecond), std::nullopt);
}

TEST(MachineState, AnOrderHoldsUntilTheNextAndKeepsAbsentGpusOut) {
  Scenario scenario = three_gpus();
  scenario.orders = {{.at_ns = 4 * kSecond, .gpus = {1, 2, 0}},
                     {.at_ns = 2 * kSecond, .gpus = {2, 0, 1}}};
  EXPECT_THAT(indexed_gpus(scenario, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(indexed_gpus(scenario, 2 * kSecond), ElementsAre(2, 0, 1));
  EXPECT_THAT(indexed_gpus(scenario, 4 * kSecond), ElementsAre(1, 2, 0));
  scenario.devices[2].present.until_ns = kSecond;
  EXPECT_THAT(indexed_gpus(scenario, 4 * kSecond), ElementsAre(1, 0));
}

TEST(MachineState, ADriverThatIsLoadedAnewHasItsVersionAndChangesWhatWasHad) {
  Scenario scenario = three_gpus();
  scenario.drivers = {{.from_ns = 2 * kSecond, .version = "580.200.01"}};
  EXPECT_EQ(driver_version(scenario, 2 * kSecond - 1), "580.159.04");
  EXPECT_EQ(driver_version(scenario, 2 * kSecond), "580.200.01");
  EXPECT_EQ(nvml_version(scenario, 0), "13.580.159.04");
  EXPECT_EQ(nvml_version(scenario, 2 * kSecond), "13.580.200.01");
  EXPECT_EQ(driver_changes(scenario, 2 * kSecond - 1), 0u);
  EXPECT_EQ(driver_changes(scenario, 2 * kSecond), 1u);
}

TEST(MachineState, OnlyUnloadingTheDriverChangesWhatWasHad) {
  Scenario scenario = three_gpus();
  scenario.libraries = {{.mismatch = true, .span = {kSecond, 2 * kSecond}},
                        {.absent = true, .span = {3 * kSecond, 4 * kSecond}},
                        {.not_loaded = true, .span = {5 * kSecond, 6 * kSecond}}};
  EXPECT_EQ(library_trouble(scenario, 0), nullptr);
  EXPECT_TRUE(library_trouble(scenario, kSecond)->mismatch);
  EXPECT_EQ(library_trouble(scenario, 2 * kSecond), nullptr);
  EXPECT_TRUE(library_trouble(scenario, 3 * kSecond)->absent);
  EXPECT_TRUE(library_trouble(scenario, 5 * kSecond)->not_loaded);
  EXPECT_EQ(driver_changes(scenario, 4 * kSecond), 0u);
  EXPECT_EQ(driver_changes(scenario, 5 * kSecond), 1u);
  EXPECT_EQ(driver_changes(scenario, 6 * kSecond), 2u);
}

}  // namespace
}  // namespace everywatt::sim
