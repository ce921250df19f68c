// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/exporter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <regex>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "serve/exporter/exporter_fixture.h"

namespace everywatt::exporter {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

constexpr auto kNative = static_cast<NameSets>(Names::kNative);
constexpr auto kDcgm = static_cast<NameSets>(Names::kDcgm);
constexpr auto kSelf = static_cast<NameSets>(Names::kSelf);

// Series by their names and labels. Fails on what no scraper may see twice or out of place.
std::map<std::string, std::string> parse(const std::string& text) {
  std::map<std::string, std::string> series;
  std::set<std::string> families;
  std::string family;
  EXPECT_TRUE(text.empty() || text.ends_with('\n'));
  for (const std::string_view line : base::split(text, '\n')) {
    if (line.empty()) continue;
    if (line.starts_with("# ")) {
      const auto words = base::split_words(line);
      const std::string name(words[2]);
      if (words[1] == "HELP") {
        EXPECT_TRUE(families.insert(name).second) << "announced twice: " << name;
      }
      family = name;
      continue;
    }
    EXPECT_TRUE(line.starts_with(family)) << line << " is not in family " << family;
    const std::size_t space = line.rfind(' ');
    const std::string value(line.substr(space + 1));
    EXPECT_TRUE(base::parse_f64(value)) << line;
    EXPECT_TRUE(series.emplace(line.substr(0, space), value).second) << "twice: " << line;
  }
  return series;
}

// The golden texts are the promise of names, labels and units: EVERYWATT_UPDATE_GOLDEN=1 writes
// them anew, and the difference is then read by people.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(EVERYWATT_SOURCE_DIR) + "/src/serve/exporter/golden/" + name;
  if (std::getenv("EVERYWATT_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(base::write_file_atomically(path, text, 0644));
  }
  const auto golden = base::read_file(path);
  ASSERT_TRUE(golden) << golden.error().message;
  EXPECT_EQ(*golden, text) << name;
}

class ExporterGolden : public ::testing::Test {
 protected:
  ExporterGolden() {
    add_busy_gpu(machine, 0);
    add_busy_gpu(machine, 1, Gpm::kNotSupported);
    add_host(machine);
    machine.file().header().wall_offset_ns.store(
        static_cast<std::uint64_t>(1'700'000'000 * kSecond));
  }
  std::string text(NameSets names) {
    return encode(*machine.view(kNow), names, {.hostname = "node-7", .processes_a_gpu = 2});
  }
  view::Machine machine{{.gpus = 2}};
};

TEST_F(ExporterGolden, NativeNames) {
  expect_golden("native.prom", text(kNative));
  parse(text(kNative));
}

TEST_F(ExporterGolden, DcgmNames) {
  expect_golden("dcgm.prom", text(kDcgm));
  parse(text(kDcgm));
}

TEST_F(ExporterGolden, OwnNames) {
  expect_golden("self.prom", text(kSelf));
  parse(text(kSelf));
}

std::string without_help(const std::string& text) {
  static const std::regex kHelp("# HELP [^\n]*\n");
  return std::regex_replace(text, kHelp, "");
}

TEST_F(ExporterGolden, AllTogetherAreDisjoint) {
  const auto kLegacy = static_cast<NameSets>(Names::kDcgmLegacy);
  EXPECT_EQ(without_help(text(kAllNames)),
            without_help(text(kNative) + text(kDcgm) + text(kLegacy) + text(kSelf)));
  parse(text(kAllNames));
}

TEST_F(ExporterGolden, WithoutGpmThereIsNoGpmSeries) {
  for (const auto& [series, value] : parse(text(kDefaultNames))) {
    const bool is_second = series.find("GPU-00000001") != std::string::npos;
    EXPECT_FALSE(is_second && series.find("DCGM_FI_PROF_") != std::string::npos) << series;
    EXPECT_FALSE(is_second && series.starts_with("gpu_sm_active_ratio")) << series;
  }
}

TEST_F(ExporterGolden, HistogramsNeverFallAndEndInTheirCount) {
  const auto series = parse(text(kNative));
  const std::string labels = "gpu=\"0\",uuid=\"GPU-00000000\"";
  EXPECT_EQ(series.at("gpu_utilization_sampled_ratio_bucket{" + labels + ",le=\"+Inf\"}"), "78");
  EXPECT_EQ(series.at("gpu_utilization_sampled_ratio_count{" + labels + "}"), "78");
  EXPECT_EQ(series.at("gpu_utilization_sampled_ratio_bucket{" + labels + ",le=\"1.0\"}"), "78");
  EXPECT_EQ(series.at("gpu_power_sampled_watts_bucket{" + labels + ",le=\"70.0\"}"), "10");
  EXPECT_EQ(series.at("gpu_power_sampled_watts_bucket{" + labels + ",le=\"700.0\"}"), "100");
  EXPECT_EQ(series.at("gpu_power_sampled_watts_bucket{" + labels + ",le=\"+Inf\"}"), "110");
}

TEST_F(ExporterGolden, CountsKeepAllTheirDigits) {
  EXPECT_EQ(parse(text(kNative)).at("gpu_pcie_replays_total{gpu=\"0\",uuid=\"GPU-00000000\"}"),
            "9007199254740993");
}

TEST_F(ExporterGolden, DcgmUnitsAreExact) {
  const auto series = parse(text(kDcgm));
  const auto value = [&](const std::string& name) {
    for (const auto& [labels, value] : series) {
      if (labels.starts_with(name + "{gpu=\"0\"")) return value;
    }
    return std::string("none");
  };
  const std::pair<const char*, const char*> cases[] = {
      {"DCGM_FI_DEV_GPU_UTIL", "97"},
      {"DCGM_FI_DEV_MEM_COPY_UTIL", "29"},
      {"DCGM_FI_DEV_FB_USED", "41000"},
      {"DCGM_FI_DEV_FB_RESERVED", "770"},
      {"DCGM_FI_DEV_POWER_USAGE", "678.123000"},
      {"DCGM_FI_DEV_SM_CLOCK", "1980"},
      {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "1234567891"},
      {"DCGM_FI_DEV_POWER_VIOLATION", "12000000345"},
      {"DCGM_FI_PROF_SM_ACTIVE", "0.971200"},
      {"DCGM_FI_PROF_PCIE_RX_BYTES", "7000000000"},
      {"DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "11"},
      {"DCGM_FI_DEV_FAN_SPEED", "40"},
      {"DCGM_FI_DEV_XID_ERRORS", "31"},
      {"DCGM_FI_DEV_MEMORY_TEMP", "none"},
  };
  for (const auto& [name, expected] : cases)
    EXPECT_EQ(value(name), expected) << name;
}

TEST_F(ExporterGolden, DcgmsNamesHaveTheWholeHelpOnlyWhereOursAreAway) {
  const std::string kShort = "# HELP DCGM_FI_DEV_GPU_TEMP See gpu_temperature_celsius.\n";
  const std::string kWhole = "# HELP DCGM_FI_DEV_GPU_TEMP Temperature of the GPU chip.\n";
  EXPECT_NE(text(kDefaultNames).find(kShort), std::string::npos);
  EXPECT_NE(text(kDcgm).find(kWhole), std::string::npos);
}

TEST_F(ExporterGolden, AStaleReadingHasNoSeries) {
  const std::string late =
      encode(*machine.view(kNow + 40 * kSecond), kDefaultNames, {.hostname = "node-7"});
  EXPECT_EQ(late.find("gpu_power_watts"), std::string::npos);
  EXPECT_EQ(late.find("DCGM_FI_DEV_POWER_USAGE{"), std::string::npos);
  EXPECT_NE(late.find("gpu_busy_seconds_total"), std::string::npos);
  const auto series = parse(late);
  EXPECT_EQ(
      series.at(
          "everywatt_last_reading_age_seconds{gpu=\"0\",uuid=\"GPU-00000000\",lane=\"gauge\"}"),
      "40.05");
}

TEST_F(ExporterGolden, AGpuThatIsAwayIsDownAndKeepsItsIdentity) {
  machine.file().set_status(machine.gpu(0), recorder::DeviceStatus::kLost, kNow - kMs);
  const auto series = parse(text(kDefaultNames));
  EXPECT_EQ(series.at("gpu_up{gpu=\"0\",uuid=\"GPU-00000000\"}"), "0");
  EXPECT_EQ(series.at("gpu_up{gpu=\"1\",uuid=\"GPU-00000001\"}"), "1");
  EXPECT_EQ(series.at("everywatt_gpu_status{gpu=\"0\",uuid=\"GPU-00000000\",status=\"lost\"}"),
            "1");
  EXPECT_FALSE(series.contains("gpu_power_watts{gpu=\"0\",uuid=\"GPU-00000000\"}"));
}

TEST_F(ExporterGolden, OpenMetrics) {
  expect_golden("all.openmetrics",
                encode(*machine.view(kNow), Wish{.names = kAllNames},
                       {.hostname = "node-7", .processes_a_gpu = 2}, Format::kOpenMetrics));
}

TEST_F(ExporterGolden, LegacyNames) {
  expect_golden("dcgm-legacy.prom", text(static_cast<NameSets>(Names::kDcgmLegacy)));
}

TEST_F(ExporterGolden, OnlyTheGpusThatAreWishedFor) {
  const auto series = parse(encode(*machine.view(kNow), Wish{.gpus = {machine.gpu(1)}}));
  EXPECT_FALSE(series.empty());
  for (const auto& [name, value] : series)
    EXPECT_EQ(name.find("gpu=\"0\""), std::string::npos) << name;
  EXPECT_EQ(series.count("gpu_up{gpu=\"1\",uuid=\"GPU-00000001\"}"), 1u);
  EXPECT_EQ(series.count("host_memory_total_bytes"), 1u);
}

TEST_F(ExporterGolden, AnEncoderFollowsDevicesThatChange) {
  Encoder encoder({.hostname = "node-7"});
  const auto view = machine.view(kNow);
  std::string text;
  Exposition out(text);
  encoder.encode(*view, {.names = kNative}, out);
  EXPECT_NE(text.find("GPU-00000001"), std::string::npos);
  machine.file().set_status(machine.gpu(1), recorder::DeviceStatus::kGone, kNow);
  text.clear();
  encoder.encode(*view, {.names = kNative}, out);
  EXPECT_EQ(text.find("GPU-00000001"), std::string::npos);
}

TEST(Exporter, ProcessesBeyondTheCapAreSummedUp) {
  view::Machine machine;
  add_busy_gpu(machine, 0);
  const auto with = [&](std::size_t cap) {
    return parse(encode(*machine.view(kNow), kNative, {.hostname = "", .processes_a_gpu = cap}));
  };
  const std::string labels = "gpu=\"0\",uuid=\"GPU-00000000\"";
  const auto capped = with(1);
  EXPECT_EQ(capped.at("gpu_process_memory_bytes{" + labels + ",pid=\"1002\"}"),
            std::to_string(3000 * kMiB));
  EXPECT_EQ(capped.at("gpu_process_memory_bytes{" + labels + ",pid=\"other\"}"),
            std::to_string(3000 * kMiB));
  EXPECT_EQ(capped.at("gpu_processes{" + labels + "}"), "3");
  EXPECT_EQ(capped.at("gpu_processes_memory_bytes{" + labels + "}"), std::to_string(6000 * kMiB));
  EXPECT_EQ(capped.at("gpu_memory_unattributed_bytes{" + labels + "}"),
            std::to_string(35'000 * kMiB + 1));
  EXPECT_FALSE(with(9).contains("gpu_process_memory_bytes{" + labels + ",pid=\"other\"}"));
  EXPECT_FALSE(with(0).contains("gpu_process_memory_bytes{" + labels + ",pid=\"1002\"}"));
}

TEST(Exporter, HostileNamesMakeNoNewSeries) {
  view::Machine machine;
  machine.add_gpu(0, Lane::kOnce, 1000 * kSecond, [](Row& row) {
    row.set_text(MetricId::gpu_name, "x\"} 1\nforged 2\n# TYPE");
    row.set_text(MetricId::gpu_uuid, "GPU-\\\"");
  });
  machine.add_power(0, 1000 * kSecond, 5);
  const std::string text = encode(*machine.view(kNow), kDefaultNames);
  for (const auto& [series, value] : parse(text))
    EXPECT_FALSE(series.starts_with("forged"));
}

// Their identity could not be read, nor their index: one label set must not come twice.
TEST(Exporter, GpusThatCannotBeToldApartAreOne) {
  view::Machine machine{{.gpus = 3}};
  add_busy_gpu(machine, 0);
  for (const unsigned index : {1U, 2U}) {
    machine.file().device(machine.gpu(index)).index.store(0);
    machine.file().set_status(machine.gpu(index), recorder::DeviceStatus::kFailed, kSecond);
  }
  const auto series = parse(encode(*machine.view(kNow), kDefaultNames));
  EXPECT_EQ(series.at("gpu_up{gpu=\"0\"}"), "0");
  EXPECT_EQ(series.at("gpu_up{gpu=\"0\",uuid=\"GPU-00000000\"}"), "1");
}

TEST(Exporter, AnNvlinkSaysWhatIsAtItsOtherEnd) {
  view::Machine machine;
  machine.add_gpu(0, Lane::kOnce, 1000 * kSecond, [](Row& row) {
    row.set_text(MetricId::gpu_uuid, "GPU-a");
    row.set_text(MetricId::gpu_nvlink_remote_address, "00000000:07:00.0", 4);
  });
  const auto series = parse(encode(*machine.view(kNow), kNative));
  EXPECT_TRUE(series.contains(
      "gpu_nvlink_info{gpu=\"0\",uuid=\"GPU-a\",link=\"4\",remote_address=\"00000000:07:00.0\"}"));
}

// A recording may come from anywhere: what it calls a number need not be one.
TEST(Exporter, AValueThatIsNoNumberIsNotPublished) {
  view::Machine machine;
  machine.add_power(0, 1000 * kSecond, std::numeric_limits<double>::quiet_NaN());
  machine.add_gpu(0, Lane::kSlow, 1000 * kSecond, [](Row& row) {
    row.set(MetricId::gpu_energy_joules_total, std::numeric_limits<double>::infinity());
  });
  const std::string text = encode(*machine.view(kNow), kDefaultNames);
  EXPECT_EQ(text.find("gpu_power_watts{"), std::string::npos);
  EXPECT_EQ(text.find("gpu_energy_joules_total{"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(Exporter, MigInstancesHaveTheirOwnLabelsAndDcgmsOfTheirGpu) {
  view::Machine machine({.gpus = 1, .migs_per_gpu = 1});
  add_busy_gpu(machine, 0);
  const std::uint32_t mig = machine.mig(0, 0);
  machine.file().set_status(mig, recorder::DeviceStatus::kOk, kSecond);
  machine.add(mig, Scope::kGpu, Lane::kOnce, 1000 * kSecond, [](Row& row) {
    row.set_text(MetricId::gpu_uuid, "MIG-1");
    row.set(MetricId::gpu_mig_gpu_instance, std::uint64_t{3});
    row.set(MetricId::gpu_mig_compute_instance, std::uint64_t{0});
    row.set_text(MetricId::gpu_mig_profile, "1g.18gb");
  });
  machine.add(mig, Scope::kGpu, Lane::kGauge, 1000 * kSecond, [](Row& row) {
    row.set(MetricId::gpu_memory_used_bytes, kMiB);
    row.set_absent(MetricId::gpu_utilization_ratio, State::kNotSupported);
  });
  const auto series = parse(encode(*machine.view(kNow), kDefaultNames, {.hostname = "n"}));
  EXPECT_EQ(series.at("gpu_memory_used_bytes{gpu=\"0\",uuid=\"MIG-1\",gpu_instance=\"3\","
                      "compute_instance=\"0\"}"),
            std::to_string(kMiB));
  EXPECT_EQ(
      series.at("DCGM_FI_DEV_FB_USED{gpu=\"0\",UUID=\"GPU-00000000\",pci_bus_id=\"00000000:"
                "06:00.0\",device=\"nvidia0\",modelName=\"NVIDIA H200\",GPU_I_PROFILE=\"1g."
                "18gb\",GPU_I_ID=\"3\",Hostname=\"n\",DCGM_FI_DRIVER_VERSION=\"580.159.04\"}"),
      "1");
  for (const auto& [name, value] : series) {
    EXPECT_FALSE(name.find("MIG-1") != std::string::npos &&
                 name.starts_with("gpu_utilization_ratio"));
  }
}

// Its slot was another's a moment ago, and who has it now is not written yet.
TEST(Exporter, MigInstanceWithoutItsIdentityIsNotShown) {
  view::Machine machine({.gpus = 1, .migs_per_gpu = 1});
  add_busy_gpu(machine, 0);
  const std::uint32_t mig = machine.mig(0, 0);
  machine.file().set_status(mig, recorder::DeviceStatus::kOk, kSecond);
  machine.add(mig, Scope::kGpu, Lane::kGauge, 1000 * kSecond,
              [](Row& row) { row.set(MetricId::gpu_memory_used_bytes, kMiB); });
  std::size_t shown = 0;
  for (const auto& [name, value] : parse(encode(*machine.view(kNow), kDefaultNames))) {
    if (!name.starts_with("gpu_memory_used_bytes{")) continue;
    ++shown;
    EXPECT_NE(name.find("uuid="), std::string::npos) << name;
  }
  EXPECT_EQ(shown, 1U);
}

TEST(Exporter, AnEmptyFileGivesWhatIsKnownOfItself) {
  view::Machine machine({.gpus = 0});
  const auto series = parse(encode(*machine.view(kNow), kDefaultNames));
  EXPECT_FALSE(series.empty());
  for (const auto& [name, value] : series) {
    EXPECT_FALSE(name.starts_with("gpu_") || name.starts_with("DCGM_")) << name;
  }
}

TEST(ParseNames, TakesTheSetsThatThereAre) {
  EXPECT_EQ(*parse_names("native"), kNative);
  EXPECT_EQ(*parse_names("dcgm, self"), kDcgm | kSelf);
  EXPECT_EQ(*parse_names("native,dcgm,self"), kDefaultNames);
  for (const char* text : {"", "nativ", "native,,dcgm", "all"}) {
    ASSERT_FALSE(parse_names(text)) << text;
    EXPECT_EQ(parse_names(text).error().code, base::Code::kInvalidArgument);
  }
  EXPECT_EQ(parse_names("x").error().message,
            "no names 'x': there are native, dcgm, dcgm-legacy, self");
}

}  // namespace
}  // namespace everywatt::exporter
