// SPDX-License-Identifier: Apache-2.0
#include "app/dcgm_exporter.h"

#include <gmock/gmock.h>

#include <map>

namespace everywatt::app {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Variables = std::map<std::string, std::string>;
using Files = std::vector<std::string>;

base::Result<DcgmExporterStart> translate(const std::vector<std::string>& words,
                                          const Variables& variables = {},
                                          const Files& files = {"/proc/net/if_inet6"}) {
  const DcgmExporterWorld world{
      .environment = [&](const char* variable) -> std::optional<std::string> {
        const auto found = variables.find(variable);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      },
      .has_file =
          [&](const char* path) {
            return std::find(files.begin(), files.end(), path) != files.end();
          }};
  return translate_dcgm_exporter(words, world, Language::kEn);
}

std::string fault(const std::vector<std::string>& words, const Variables& variables = {}) {
  const auto start = translate(words, variables);
  return start ? "" : start.error().message;
}

TEST(DcgmExporter, IsTheLastPartOfTheProgramsPath) {
  EXPECT_TRUE(is_dcgm_exporter("dcgm-exporter"));
  EXPECT_TRUE(is_dcgm_exporter("/usr/bin/dcgm-exporter"));
  EXPECT_FALSE(is_dcgm_exporter("/usr/bin/everywatt"));
  EXPECT_FALSE(is_dcgm_exporter("dcgm-exporter/everywatt"));
}

TEST(DcgmExporter, WithoutFlagsListensEverywhereAndServesTheDefaultList) {
  const auto start = translate({});
  ASSERT_TRUE(start);
  EXPECT_THAT(
      start->words,
      ElementsAre("serve", "--set", "serve.names=\"dcgm\"", "--set", "serve.host_names=[\"*\"]",
                  "--set", "serve.counters=\"default\"", "--set", "serve.listen=\"[::]:9400\""));
  EXPECT_THAT(start->notes, IsEmpty());
  EXPECT_THAT(translate({}, {}, {})->words, Contains("serve.listen=\"0.0.0.0:9400\""));
  EXPECT_THAT(translate({}, {}, {"/etc/dcgm-exporter/default-counters.csv"})->words,
              Contains("serve.counters=\"/etc/dcgm-exporter/default-counters.csv\""));
}

TEST(DcgmExporter, FlagsInAllTheirFormsGoBeforeTheEnvironment) {
  const Variables variables{{"DCGM_EXPORTER_LISTEN", ":1111"},
                            {"DCGM_EXPORTER_COLLECTORS", "/env.csv"},
                            {"DCGM_EXPORTER_NO_HOSTNAME", "true"},
                            {"DCGM_EXPORTER_DEBUG", ""}};
  const auto start =
      translate({"-f", "/flag.csv", "-x=60000", "--clock-events-count-window-size", "1500", "-rbmn",
                 "-o=false", "--web-read-timeout", "1m30s", "-d=g:0,2-3"},
                variables);
  ASSERT_TRUE(start) << start.error().message;
  for (const char* wanted : {"serve.listen=\"[::]:1111\"", "serve.counters=\"/flag.csv\"",
                             "serve.hostname=\"-\"", "serve.xid_window_seconds=60",
                             "serve.clock_events_window_seconds=1.5", "serve.model_name=\"dashes\"",
                             "serve.request_seconds=90", "serve.gpus=[\"0\", \"2\", \"3\"]"}) {
    EXPECT_THAT(start->words, Contains(wanted));
  }
  EXPECT_THAT(start->words, Not(Contains("serve.counters=\"/env.csv\"")));
  EXPECT_THAT(start->words, Not(Contains(HasSubstr("log.level"))));
  EXPECT_THAT(start->words, Not(Contains("serve.names=\"dcgm-legacy\"")));
  EXPECT_THAT(translate({"-o"})->words, Contains("serve.names=\"dcgm-legacy\""));
}

TEST(DcgmExporter, ATimeLimitOfZeroLeavesOurs) {
  const auto start = translate({"--web-read-timeout=0s", "--web-write-timeout", "0s"});
  ASSERT_TRUE(start) << start.error().message;
  EXPECT_THAT(start->words, Not(Contains(HasSubstr("serve.request_seconds"))));
  EXPECT_THAT(start->words, Not(Contains(HasSubstr("serve.answer_seconds"))));
}

TEST(DcgmExporter, TheWebConfigurationFileIsTakenFromTheFlagAndFromTheEnvironment) {
  EXPECT_THAT(translate({"--web-config-file", "/f/web.yml"})->words,
              Contains("serve.web_config=\"/f/web.yml\""));
  EXPECT_THAT(translate({}, {{"DCGM_EXPORTER_WEB_CONFIG_FILE", "/e/web.yml"}})->words,
              Contains("serve.web_config=\"/e/web.yml\""));
}

TEST(DcgmExporter, WhatIsAskedForAndNotThereIsSaidAndWhatHasNoEffectIsTaken) {
  const auto start = translate({"-k", "-c", "1000", "-r", "host:5555", "--fake-gpus"},
                               {{"DCGM_EXPORTER_CONFIGMAP_DATA", "none"}});
  ASSERT_TRUE(start);
  EXPECT_THAT(start->notes,
              ElementsAre("dcgm-exporter: --kubernetes: not there yet: labels of pods"));
  EXPECT_THAT(translate({"--kubernetes=false"})->notes, IsEmpty());
}

TEST(DcgmExporter, BadFlagsAreOneLine) {
  EXPECT_EQ(fault({"--adress", ":1"}),
            "dcgm-exporter: unknown flag '--adress'; did you mean '--address'?");
  EXPECT_EQ(fault({"-f"}), "dcgm-exporter: --collectors needs a value");
  EXPECT_EQ(fault({"serve"}), "dcgm-exporter: 'serve' is no flag");
  EXPECT_EQ(fault({"-c", "often"}), "dcgm-exporter: --collect-interval: 'often' is not a number");
  EXPECT_EQ(fault({"--web-read-timeout", "10"}),
            "dcgm-exporter: --web-read-timeout: '10' is not a duration such as 10s or 1m30s");
  EXPECT_EQ(fault({"--debug=maybe"}), "dcgm-exporter: --debug: 'maybe' is not true or false");
  for (const char* devices : {"g:", "g:3-1", "g:x", "g:0,", "i:0", "g:99999"}) {
    EXPECT_THAT(fault({"-d", devices}), HasSubstr("is not f, g, i, g+i or g:0,2-3")) << devices;
  }
  EXPECT_EQ(fault({}, {{"DCGM_EXPORTER_INTERVAL", "x"}}),
            "dcgm-exporter: --collect-interval: 'x' is not a number");
}

TEST(DcgmExporter, EachFlagIsInTheHelp) {
  for (const Language language : {Language::kEn, Language::kZh}) {
    EXPECT_THAT(dcgm_exporter_help(language), HasSubstr("--collectors, -f"));
    EXPECT_THAT(dcgm_exporter_help(language), HasSubstr("[$DCGM_EXPORTER_LISTEN]"));
  }
}

}  // namespace
}  // namespace everywatt::app
