// SPDX-License-Identifier: Apache-2.0
#include "app/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace everywatt::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Arguments parse(const std::vector<std::string>& words) {
  const auto arguments = parse_command_line(words, Language::kEn);
  EXPECT_TRUE(arguments) << (arguments ? "" : arguments.error().message);
  return arguments.value_or(Arguments{});
}

std::string complaint(const std::vector<std::string>& words, Language language = Language::kEn) {
  const auto arguments = parse_command_line(words, language);
  EXPECT_FALSE(arguments);
  return arguments ? "" : arguments.error().message;
}

TEST(CommandLine, WithoutACommandIsTheOverview) {
  EXPECT_EQ(parse({}).command, Command::kOverview);
  EXPECT_EQ(parse({"--json"}).form, OutputForm::kJson);
  EXPECT_EQ(parse({"--run-dir", "/r"}).run_folder, "/r");
}

TEST(CommandLine, AnOptionsValueMayBeACommandsName) {
  const Arguments arguments = parse({"--recorder", "record", "get", "203"});
  EXPECT_EQ(arguments.command, Command::kGet);
  EXPECT_EQ(arguments.recorder, "record");
  EXPECT_EQ(parse({"--json", "get", "203"}).command, Command::kGet);
}

TEST(CommandLine, AnOptionWithoutOrWithTwoValuesIsAnError) {
  EXPECT_EQ(complaint({"serve", "--listen", ""}), "serve: --listen needs a value; see --help");
  EXPECT_EQ(complaint({"import", "x", "--output", ""}),
            "import: --output needs a value; see --help");
  EXPECT_EQ(complaint({"record", ""}), "record: FILE needs a value; see --help");
  EXPECT_EQ(complaint({"serve", "--listen"}), "serve: --listen needs a value; see --help");
  EXPECT_EQ(complaint({"get", "203", "--lang", "en", "--lang", "zh"}),
            "get: --lang is given more than once");
}

TEST(CommandLine, ReadsMetricsAndGpus) {
  const Arguments arguments =
      parse({"get", "gpu_power_watts", "203", "--gpu", "1", "--gpu=@training", "--json"});
  EXPECT_EQ(arguments.command, Command::kGet);
  EXPECT_THAT(arguments.metrics, ElementsAre("gpu_power_watts", "203"));
  EXPECT_THAT(arguments.gpus, ElementsAre("1", "@training"));
  EXPECT_EQ(arguments.form, OutputForm::kJson);
}

TEST(CommandLine, AnOptionTakesOneValueAndLeavesTheRest) {
  const Arguments arguments = parse({"get", "--gpu", "1", "gpu_power_watts"});
  EXPECT_THAT(arguments.gpus, ElementsAre("1"));
  EXPECT_THAT(arguments.metrics, ElementsAre("gpu_power_watts"));
}

TEST(CommandLine, ReadsDurations) {
  const Arguments arguments =
      parse({"history", "155", "--since", "2m", "--until", "30s", "--step", "500ms"});
  EXPECT_EQ(arguments.since_ns, 120'000'000'000);
  EXPECT_EQ(arguments.until_ns, 30'000'000'000);
  EXPECT_EQ(arguments.step_ns, 500'000'000);
}

TEST(CommandLine, EachCommandHasItsOwnDefaults) {
  EXPECT_EQ(parse({"history", "155"}).since_ns, 600'000'000'000);
  EXPECT_EQ(parse({"events"}).since_ns, 86'400'000'000'000);
}

TEST(CommandLine, TheEndOfOptionsMayStandBeforeTheCommand) {
  const Arguments arguments = parse({"--", "get", "203"});
  EXPECT_EQ(arguments.command, Command::kGet);
  EXPECT_THAT(arguments.metrics, ElementsAre("203"));
  EXPECT_EQ(parse({"--json", "--", "get", "203"}).command, Command::kGet);
  EXPECT_THAT(parse({"get", "--", "203"}).metrics, ElementsAre("203"));
  EXPECT_EQ(complaint({"--", "gett"}), "unknown command 'gett'; did you mean 'get'?");
}

TEST(CommandLine, OrdersAndMarksAreForTheDaemonOfARunFolder) {
  EXPECT_EQ(parse({"drain"}).command, Command::kDrain);
  EXPECT_EQ(parse({"resume", "--run-dir", "/r"}).run_folder, "/r");
  EXPECT_EQ(parse({"mark", "lr drop"}).mark, "lr drop");
  EXPECT_EQ(complaint({"mark"}), "mark: TEXT is missing; see --help");
  EXPECT_EQ(parse({"serve", "--data-dir", "/d"}).data_folder, "/d");
}

TEST(CommandLine, ADemoIsNoReplay) {
  EXPECT_EQ(complaint({"serve", "--demo", "all", "--replay", "a.rec"}),
            "serve: --demo and --replay exclude each other");
}

TEST(CommandLine, ReadsSizesAndCounts) {
  const Arguments arguments = parse({"free", "-n", "2", "--memory", "20GiB"});
  EXPECT_EQ(arguments.free_count, 2u);
  EXPECT_EQ(arguments.memory_bytes, std::uint64_t{20} << 30);
}

TEST(CommandLine, ReadsServe) {
  const Arguments arguments = parse({"serve", "--demo", "gemm,fed", "--listen", "127.0.0.1:0",
                                     "--set", "log.level=debug", "--set", "lanes.slow_seconds=1"});
  EXPECT_EQ(arguments.command, Command::kServe);
  EXPECT_EQ(arguments.demo, "gemm,fed");
  EXPECT_EQ(arguments.listen, "127.0.0.1:0");
  EXPECT_THAT(arguments.settings, ElementsAre("log.level=debug", "lanes.slow_seconds=1"));
}

TEST(CommandLine, ReadsImportAndRecord) {
  const Arguments import = parse({"import", "a", "b", "--output", "o", "--profile", "a100"});
  EXPECT_THAT(import.inputs, ElementsAre("a", "b"));
  EXPECT_EQ(import.output, "o");
  EXPECT_EQ(import.profile, "a100");
  const Arguments record = parse({"record", "f", "--for", "1h", "--no-identities"});
  EXPECT_EQ(record.output, "f");
  EXPECT_EQ(record.duration_ns, 3'600'000'000'000);
  EXPECT_TRUE(record.without_identities);
}

TEST(CommandLine, HelpAndVersionAreTexts) {
  const Arguments help = parse({"--help"});
  EXPECT_EQ(help.command, Command::kShowText);
  EXPECT_THAT(help.shown, HasSubstr("check-config"));
  EXPECT_THAT(help.shown, HasSubstr("Exit codes"));
  EXPECT_THAT(parse({"get", "--help"}).shown, HasSubstr("everywatt get"));
  EXPECT_THAT(parse({"get", "--help"}).shown, HasSubstr("--gpu"));
  EXPECT_EQ(parse({"--version"}).shown, "everywatt " EVERYWATT_VERSION "\n");
  EXPECT_THAT(parse({"--help"}).shown, testing::Not(HasSubstr("part")));
}

TEST(CommandLine, HelpIsInTheLanguageAskedFor) {
  EXPECT_THAT(parse({"--help", "--lang", "zh"}).shown, HasSubstr("用法"));
  EXPECT_THAT(parse({"--lang=zh", "get", "--help"}).shown, HasSubstr("选项"));
}

TEST(CommandLine, UnknownNamesComeWithTheNearestOne) {
  EXPECT_EQ(complaint({"gett"}), "unknown command 'gett'; did you mean 'get'?");
  EXPECT_EQ(complaint({"xyzzyplugh"}), "unknown command 'xyzzyplugh'");
  EXPECT_EQ(complaint({"--jsn"}), "unknown option '--jsn'; did you mean '--json'?");
  EXPECT_EQ(complaint({"get", "155", "--gpuu", "3"}),
            "get: unknown option '--gpuu'; did you mean '--gpu'?");
  EXPECT_EQ(complaint({"get", "--gpuu", "3"}),
            "get: unknown option '--gpuu'; did you mean '--gpu'?");
  EXPECT_EQ(complaint({"get", "155", "--gpuu=3"}),
            "get: unknown option '--gpuu'; did you mean '--gpu'?");
  EXPECT_EQ(complaint({"processes", "now"}), "processes: unexpected argument 'now'");
}

TEST(CommandLine, WhatIsMissingIsNamed) {
  EXPECT_EQ(complaint({"get"}), "get: METRIC is missing; see --help");
  EXPECT_EQ(complaint({"import", "a"}), "import: --output is missing; see --help");
  EXPECT_EQ(complaint({"get", "155", "--gpu"}), "get: --gpu needs a value; see --help");
}

TEST(CommandLine, BadValuesAreNamed) {
  EXPECT_EQ(complaint({"history", "155", "--since", "soon"}),
            "history: --since: 'soon' is not a duration such as 250ms, 90s, 10m, 2h or 1d");
  EXPECT_EQ(complaint({"free", "-n", "two"}), "free: -n: 'two' is not a whole number");
  EXPECT_EQ(complaint({"free", "--memory", "much"}),
            "free: --memory: 'much' is not a size such as 20GiB");
  EXPECT_EQ(complaint({"get", "155", "--lang", "de"}), "get: --lang: 'de' is neither en nor zh");
}

TEST(CommandLine, ComplaintsAreInTheLanguageAskedFor) {
  EXPECT_EQ(complaint({"gett"}, Language::kZh), "未知命令“gett”;是否想输入“get”?");
  EXPECT_EQ(complaint({"gett", "--lang", "zh"}), "未知命令“gett”;是否想输入“get”?");
}

TEST(CommandLine, WhatHasNotComeYetIsNotShown) {
  for (const char* command : {"health", "doctor", "top", "alerts", "part"}) {
    EXPECT_THAT(complaint({command}), HasSubstr("unknown command")) << command;
  }
}

}  // namespace
}  // namespace everywatt::app
