// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/counters.h"

#include <gmock/gmock.h>

namespace everywatt::exporter {
namespace {

using catalog::MetricId;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Counters, AFileOfDcgmsExporterIsTaken) {
  const CountersReading reading = parse_counters(
      "# Format\n"
      "\n"
      "DCGM_FI_DEV_SM_CLOCK,  gauge, SM clock frequency (in MHz).\r\n"
      "  # DCGM_FI_DEV_GPU_TEMP, gauge, off\n"
      "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION, counter, \"Energy, in \"\"mJ\"\".\"\n"
      "DCGM_FI_DRIVER_VERSION, label, Driver Version");
  EXPECT_THAT(reading.skipped, IsEmpty());
  ASSERT_EQ(reading.counters.families.size(), 2u);
  EXPECT_EQ(reading.counters.families[0].metric, MetricId::gpu_sm_clock_hertz);
  EXPECT_EQ(reading.counters.families[0].help, "SM clock frequency (in MHz).");
  EXPECT_EQ(reading.counters.families[1].type, "counter");
  EXPECT_EQ(reading.counters.families[1].help, "Energy, in \"mJ\".");
  ASSERT_EQ(reading.counters.labels.size(), 1u);
  EXPECT_EQ(reading.counters.labels[0].metric, MetricId::gpu_driver_version);
}

TEST(Counters, AFieldKeepsTheSpellingOfTheFile) {
  const auto old = parse_counters("DCGM_FI_DEV_ROW_REMAP_FAILURE, gauge, x");
  const auto now = parse_counters("DCGM_FI_DEV_ROW_REMAP_FAILED, gauge, x");
  ASSERT_EQ(old.counters.families.size() + now.counters.families.size(), 2u);
  EXPECT_EQ(old.counters.families[0].metric, now.counters.families[0].metric);
  EXPECT_EQ(now.counters.families[0].name, "DCGM_FI_DEV_ROW_REMAP_FAILED");
}

TEST(Counters, ALineThatSaysNothingIsNamedAndTheOthersStay) {
  const CountersReading reading = parse_counters(
      "DCGM_FI_DEV_NOTHING, gauge, x\n"
      "DCGM_FI_DEV_GPU_TEMP, gauge\n"
      "DCGM_FI_DEV_GPU_TEMP, gauge, x, y\n"
      "DCGM_FI_DEV_GPU_TEMP, gauge, \"x\n"
      "DCGM_FI_DEV_GPU_TEMP, histogram, x\n"
      "DCGM_FI_DEV_SERIAL, gauge, x\n"
      "DCGM_FI_DEV_GPU_TEMP, Gauge, x\n"
      "DCGM_FI_DEV_GPU_TEMP, label, x\n"
      ",,\n");
  EXPECT_THAT(reading.skipped,
              ElementsAre("line 1: no field 'DCGM_FI_DEV_NOTHING' is recorded",
                          "line 2: 2 fields instead of three: name, type, help; a help with commas "
                          "stands in quotes",
                          "line 3: 4 fields instead of three: name, type, help; a help with commas "
                          "stands in quotes",
                          "line 4: a quote that does not end",
                          "line 5: type 'histogram' is not gauge, counter or label",
                          "line 6: 'DCGM_FI_DEV_SERIAL' can only be a label",
                          "line 8: 'DCGM_FI_DEV_GPU_TEMP' was there before",
                          "line 9: no field '' is recorded"));
  EXPECT_EQ(reading.counters.families.size(), 1u);
}

TEST(Counters, TheDefaultListIsKnownInFull) {
  EXPECT_EQ(default_counters().families.size(), 24u);
  EXPECT_GT(all_counters().families.size(), 24u);
}

}  // namespace
}  // namespace everywatt::exporter
