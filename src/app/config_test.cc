// SPDX-License-Identifier: Apache-2.0
#include "app/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "app/config_key.h"
#include "base/file.h"

namespace everywatt::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ConfigReading read(std::string_view text) {
  ConfigReading reading;
  reading.config = default_config();
  read_config_text(text, "e.toml", Language::kEn, reading);
  return reading;
}

ConfigReading set(std::string_view setting) {
  ConfigReading reading;
  reading.config = default_config();
  read_setting(setting, Language::kEn, reading);
  return reading;
}

// The parts are told what was set as TOML: they must read back what was read.
TEST(Config, TextsOfAnyCharactersReachTheParts) {
  const ConfigReading first = read("[serve]\nhost_names = [\"a\\nb\\u0001\\u007f\\\"\\\\\"]\n");
  ASSERT_THAT(first.faults, IsEmpty());
  EXPECT_THAT(first.config.host_names, ElementsAre("a\nb\x01\x7f\"\\"));
  const ConfigReading again = read(first.config.settings);
  EXPECT_THAT(again.faults, IsEmpty());
  EXPECT_EQ(again.config.host_names, first.config.host_names);
}

TEST(Config, DefaultsAreThoseOfTheTable) {
  const Config config = default_config();
  EXPECT_EQ(config.listen_address, "127.0.0.1");
  EXPECT_EQ(config.listen_port, 9400);
  EXPECT_EQ(config.names, exporter::kDefaultNames);
  EXPECT_EQ(config.periods.gauge_ns, 100'000'000);
  EXPECT_EQ(config.periods.slow_ns, 10'000'000'000);
  EXPECT_EQ(config.deadlines.call_ns, 2'000'000'000);
  EXPECT_EQ(config.deadlines.init_ns, 30'000'000'000);
  EXPECT_EQ(config.gpm_pace, sampler::GpmPace::kAdaptive);
  EXPECT_EQ(config.command_style, host::CommandStyle::kName);
  EXPECT_EQ(config.host_root, "/");
  EXPECT_EQ(config.log_level, base::LogLevel::kNotice);
  EXPECT_EQ(config.settings, "");
}

TEST(Config, DefaultsOfTheTableAreThoseOfTheSampler) {
  const Config config = default_config();
  const sampler::Periods periods;
  EXPECT_EQ(config.periods.power_drain_ns, periods.power_drain_ns);
  EXPECT_EQ(config.periods.gpm_ns, periods.gpm_ns);
  EXPECT_EQ(config.periods.gpm_fast_ns, periods.gpm_fast_ns);
  EXPECT_EQ(config.periods.process_ns, periods.process_ns);
  EXPECT_EQ(config.periods.process_utilization_ns, periods.process_utilization_ns);
  EXPECT_EQ(config.periods.pcie_ns, periods.pcie_ns);
  EXPECT_EQ(config.periods.mig_ns, periods.mig_ns);
}

TEST(Config, EveryKeyHasANameOfItsOwnInASection) {
  std::set<std::string_view> names;
  for (const ConfigKey& key : config_keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_NE(key.name.find('.'), key.name.npos) << key.name;
    EXPECT_EQ(find_config_key(key.name), &key);
  }
  EXPECT_EQ(find_config_key("lanes.none"), nullptr);
}

TEST(Config, ReadsAFile) {
  const ConfigReading reading = read(
      "[serve]\nlisten = \"[::1]:9999\"\nhost_names = [\"gpu1\", \"gpu1.lan\"]\n"
      "[lanes]\nslow_seconds = 5\ngpm_pace = \"fast\"\n"
      "[groups]\ntraining = [\"0\", \"GPU-5ee\"]\n");
  EXPECT_THAT(reading.faults, IsEmpty());
  EXPECT_EQ(reading.config.listen_address, "::1");
  EXPECT_EQ(reading.config.listen_port, 9999);
  EXPECT_THAT(reading.config.host_names, ElementsAre("gpu1", "gpu1.lan"));
  EXPECT_EQ(reading.config.periods.slow_ns, 5'000'000'000);
  EXPECT_EQ(reading.config.gpm_pace, sampler::GpmPace::kFast);
  EXPECT_THAT(reading.config.groups.at("training"), ElementsAre("0", "GPU-5ee"));
}

TEST(Config, SettingsTellAnotherProcessTheSame) {
  const ConfigReading first = read(
      "[lanes]\nslow_seconds = 2.5\n[processes]\nlabels = [\"A\\\"B\", \"C\"]\ncommand = "
      "\"full\"\n");
  const ConfigReading second = read(first.config.settings);
  EXPECT_THAT(second.faults, IsEmpty());
  EXPECT_EQ(second.config.periods.slow_ns, 2'500'000'000);
  EXPECT_THAT(second.config.labels, ElementsAre("A\"B", "C"));
  EXPECT_EQ(second.config.command_style, host::CommandStyle::kFull);
}

TEST(Config, UnknownKeyIsNamedWithItsLineAndTheNearestOne) {
  EXPECT_THAT(read("[lanes]\n\ngauge_second = 1\n").faults,
              ElementsAre("e.toml:3: unknown key 'lanes.gauge_second'; did you mean "
                          "'lanes.gauge_seconds'?"));
  EXPECT_THAT(read("[lane]\nx = 1\n").faults, ElementsAre("e.toml:1: unknown key 'lane'"));
  EXPECT_THAT(read("x = 1\n").faults, ElementsAre("e.toml:1: unknown key 'x'"));
}

TEST(Config, WrongTypesAreNamedWithTheirLines) {
  EXPECT_THAT(read("[lanes]\nslow_seconds = \"5\"\n").faults,
              ElementsAre("e.toml:2: lanes.slow_seconds must be a number"));
  EXPECT_THAT(read("[serve]\nlisten = 9400\n").faults,
              ElementsAre("e.toml:2: serve.listen must be a text in quotes"));
  EXPECT_THAT(read("[serve]\nhost_names = \"a\"\n").faults,
              ElementsAre("e.toml:2: serve.host_names must be a list of texts: [\"a\", \"b\"]"));
  EXPECT_THAT(read("[serve]\nhost_names = [1]\n").faults,
              ElementsAre("e.toml:2: serve.host_names must be a list of texts: [\"a\", \"b\"]"));
  EXPECT_THAT(read("[host]\nmax_processes = 1.5\n").faults,
              ElementsAre("e.toml:2: host.max_processes must be a whole number"));
  EXPECT_THAT(read("[run]\nfolder = true\n").faults,
              ElementsAre("e.toml:2: run.folder must be a text in quotes"));
  EXPECT_THAT(read("[groups]\na = \"0\"\n").faults,
              ElementsAre("e.toml:2: groups.a must be a list of texts: [\"a\", \"b\"]"));
}

TEST(Config, ValuesOutsideTheirBoundsAreNamed) {
  EXPECT_THAT(read("[lanes]\nslow_seconds = 601\n").faults,
              ElementsAre("e.toml:2: lanes.slow_seconds = 601 is outside 0.2 to 600"));
  EXPECT_THAT(read("[lanes]\nslow_seconds = -1\n").faults,
              ElementsAre("e.toml:2: lanes.slow_seconds = -1 is outside 0.2 to 600"));
  EXPECT_THAT(read("[lanes]\nslow_seconds = nan\n").faults,
              ElementsAre("e.toml:2: lanes.slow_seconds = nan is outside 0.2 to 600"));
  EXPECT_THAT(read("[log]\nlevel = \"loud\"\n").faults,
              ElementsAre("e.toml:2: log.level = 'loud' is none of error|warning|notice|debug"));
  EXPECT_THAT(read("[serve]\nlisten = \"9400\"\n").faults,
              ElementsAre(HasSubstr("'9400' is not ADDRESS:PORT")));
  EXPECT_THAT(read("[serve]\nnames = \"dcmg\"\n").faults, ElementsAre(HasSubstr("dcmg")));
}

TEST(Config, EveryFaultIsFoundAndTheRestIsRead) {
  const ConfigReading reading =
      read("[lanes]\nslow_seconds = 0\nprocess_seconds = 2\n[log]\nlevel = 1\n");
  EXPECT_EQ(reading.faults.size(), 2u);
  EXPECT_EQ(reading.config.periods.process_ns, 2'000'000'000);
  EXPECT_EQ(reading.config.periods.slow_ns, 10'000'000'000);
}

TEST(Config, AFileThatIsNoTomlIsNamedWithItsLine) {
  EXPECT_THAT(read("[lanes]\nslow_seconds = \n").faults, ElementsAre(HasSubstr("e.toml:2: ")));
}

// toml++ asserts on it.
TEST(Config, ATableWithoutANameIsNamedWithItsLine) {
  EXPECT_THAT(read("[lanes]\n[\n").faults, ElementsAre("e.toml:2: a '[' that no name follows"));
  EXPECT_THAT(read("[,\n").faults, ElementsAre("e.toml:1: a '[' that no name follows"));
  EXPECT_THAT(set("[,=3").faults, ElementsAre("--set: '[,=3' is not key=value"));
}

// P008: polling faster than the source refreshes gives invented numbers.
TEST(Config, PeriodsBelowTheSourcesRefreshAreRaisedAndSaid) {
  const ConfigReading reading = read("[lanes]\ngauge_seconds = 0.001\n");
  EXPECT_THAT(reading.faults, IsEmpty());
  EXPECT_EQ(reading.config.periods.gauge_ns, 100'000'000);
  EXPECT_THAT(reading.notes,
              ElementsAre("e.toml:2: lanes.gauge_seconds = 0.001 is faster than its source "
                          "refreshes: 0.1 is used"));
}

TEST(Config, SettingsNeedNoQuotes) {
  EXPECT_EQ(set("lanes.slow_seconds=5").config.periods.slow_ns, 5'000'000'000);
  EXPECT_EQ(set("serve.listen=0.0.0.0:80").config.listen_port, 80);
  EXPECT_EQ(set("log.level=debug").config.log_level, base::LogLevel::kDebug);
  EXPECT_EQ(set("run.folder=\"/a b\"").config.run_folder, "/a b");
  EXPECT_EQ(set("groups.a=[\"1\"]").config.groups.at("a"), std::vector<std::string>{"1"});
}

TEST(Config, FaultsOfSettingsNameTheOption) {
  EXPECT_THAT(set("lanes.slow=5").faults,
              ElementsAre(HasSubstr("--set: unknown key 'lanes.slow'")));
  EXPECT_THAT(set("nothing").faults, ElementsAre("--set: 'nothing' is not key=value"));
  EXPECT_THAT(set("=5").faults, ElementsAre("--set: '=5' is not key=value"));
}

TEST(Config, ASectionIsNoKey) {
  EXPECT_THAT(
      read("lanes = 5\n").faults,
      ElementsAre(
          "e.toml:1: 'lanes' is a section with keys of its own, such as lanes.gauge_seconds"));
  EXPECT_THAT(
      set("groups=5").faults,
      ElementsAre("--set: 'groups' is a section with keys of its own, such as groups.training"));
}

TEST(Config, FaultsOfAnOptionNameTheOption) {
  ConfigReading reading;
  read_option("--listen", "serve.listen", "9400", Language::kEn, reading);
  read_option("--run-dir", "run.folder", "/a\xff", Language::kEn, reading);
  EXPECT_THAT(reading.faults,
              ElementsAre("--listen: '9400' is not ADDRESS:PORT such as 127.0.0.1:9400",
                          "--run-dir: '/a\xff' is no UTF-8 text"));
  EXPECT_EQ(reading.config.settings, "");
  EXPECT_THAT(set("run.folder=/a\xff").faults,
              ElementsAre("--set: 'run.folder=/a\xff' is no UTF-8 text"));
}

TEST(Config, AnOptionIsTakenAsItIs) {
  ConfigReading reading;
  read_option("--run-dir", "run.folder", "5 \"a\" = b\n", Language::kEn, reading);
  EXPECT_THAT(reading.faults, IsEmpty());
  EXPECT_EQ(reading.config.run_folder, "5 \"a\" = b\n");
  EXPECT_EQ(read(reading.config.settings).config.run_folder, "5 \"a\" = b\n");
}

TEST(Config, FaultsAreToldInChinese) {
  ConfigReading reading;
  read_config_text("[lanes]\nslow_seconds = \"5\"\n", "e.toml", Language::kZh, reading);
  EXPECT_THAT(reading.faults, ElementsAre("e.toml:2: lanes.slow_seconds 必须是数字"));
}

TEST(Config, DefaultFileHoldsTheDefaultsOnceTheCommentsAreRemoved) {
  std::string text = format_default_config(Language::kEn);
  std::string uncommented;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const bool is_key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    uncommented += (is_key ? line.substr(1) : line) + "\n";
    at = end + 1;
  }
  const ConfigReading reading = read(uncommented);
  EXPECT_THAT(reading.faults, IsEmpty());
  EXPECT_EQ(reading.config.periods.gauge_ns, default_config().periods.gauge_ns);
  for (const ConfigKey& key : config_keys()) {
    EXPECT_THAT(reading.config.settings, HasSubstr(std::string(key.name)));
  }
}

TEST(Config, DefaultFileInTheDocumentationIsUpToDate) {
  const auto shipped = base::read_file(std::string(EVERYWATT_SOURCE_DIR) + "/docs/everywatt.toml");
  ASSERT_TRUE(shipped);
  EXPECT_EQ(*shipped, format_default_config(Language::kEn))
      << "write it anew with: everywatt check-config --default --lang en > docs/everywatt.toml";
}

TEST(Config, OverridesAreTold) {
  Config config = default_config();
  override_setting(config, "host.root", "/demo/root");
  EXPECT_EQ(config.host_root, "/demo/root");
  EXPECT_EQ(config.settings, "host.root = \"/demo/root\"\n");
}

TEST(Config, ANamedFileMustBeThere) {
  const auto reading = read_config("/nowhere/e.toml", {}, Language::kEn);
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code, base::Code::kInvalidArgument);
}

TEST(ListenAddress, IsAddressAndPort) {
  EXPECT_EQ(parse_listen("127.0.0.1:9400")->address, "127.0.0.1");
  EXPECT_EQ(parse_listen("[::]:0")->address, "::");
  EXPECT_EQ(parse_listen("[::]:0")->port, 0);
  for (const char* bad : {"", ":9400", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:9400",
                          "127.0.0.1:x", "[]:1", "foo:80", "[127.0.0.1.1]:1", "256.1.1.1:1"}) {
    EXPECT_FALSE(parse_listen(bad)) << bad;
  }
}

TEST(Config, ASettingThatIsGivenAgainIsHandedToTheProcessesOnce) {
  ConfigReading reading = read("driver.retry_seconds = 5\nhost.seconds = 2\n");
  read_setting("driver.retry_seconds=7", Language::kEn, reading);
  EXPECT_TRUE(reading.faults.empty());
  EXPECT_EQ(reading.config.settings, "host.seconds = 2\ndriver.retry_seconds = 7\n");
  EXPECT_EQ(read(reading.config.settings).config.retry_ns, 7'000'000'000);
}

}  // namespace
}  // namespace everywatt::app
