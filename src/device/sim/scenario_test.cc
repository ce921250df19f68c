// SPDX-License-Identifier: Apache-2.0
#include "device/sim/scenario.h"

#include <gtest/gtest.h>

#include "device/sim/return_names.h"

namespace everywatt::sim {
namespace {

constexpr std::int64_t kMs = 1'000'000;
const std::string kDevice = "[[device]]\ntrace = \"gemm\"\n";

Scenario parse(const std::string& text) {
  auto scenario = parse_scenario(text, "/sims", "s.toml");
  EXPECT_TRUE(scenario) << scenario.error().message;
  return scenario ? *scenario : Scenario{};
}

std::string error_of(const std::string& text) {
  const auto scenario = parse_scenario(text, "/sims", "s.toml");
  return scenario ? "no error" : scenario.error().message;
}

TEST(Scenario, ReadsDevicesWithNamesRelativeToItsFolder) {
  const Scenario scenario =
      parse("# comment\nplayhead = \"play\"\ndriver_version = \"550.1\" # older\n" + kDevice +
            "[[device]]\ntrace = \"/abs/fed\"\nprofile = \"a100\"\n");
  EXPECT_EQ(scenario.playhead, "/sims/play");
  EXPECT_EQ(scenario.driver_version, "550.1");
  ASSERT_EQ(scenario.devices.size(), 2u);
  EXPECT_EQ(scenario.devices[0].trace, "/sims/gemm");
  EXPECT_EQ(scenario.devices[0].profile, "h200");
  EXPECT_FALSE(scenario.devices[0].loop);
  EXPECT_EQ(scenario.devices[1].trace, "/abs/fed");
  EXPECT_EQ(scenario.devices[1].profile, "a100");
}

TEST(Scenario, ReadsALoopOfItsOwn) {
  const Scenario scenario =
      parse(kDevice + "start_ms = 1000\nloop_begin_ms = 2000\nloop_end_ms = 4000.5\n");
  EXPECT_EQ(scenario.devices[0].loop, (Loop{1'000 * kMs, 2'000 * kMs, 4'000'500'000}));
}

TEST(Scenario, ReadsAFaultWithCodeNumberOfTimesDelayAndSpan) {
  const Scenario scenario = parse(
      kDevice + kDevice +
      "[[fault]]\nfunction = \"nvmlDeviceGetName\"\ngpu = 1\n"
      "return = \"GPU_IS_LOST\"\ntimes = 3\ndelay_ms = 20\n"
      "from_ms = 100\nuntil_ms = 200\n[[fault]]\nfunction = \"*\"\nhangs = true\nreturn = 37\n");
  ASSERT_EQ(scenario.faults.size(), 2u);
  const FaultEntry& fault = scenario.faults[0];
  EXPECT_EQ(fault.function, "nvmlDeviceGetName");
  EXPECT_EQ(fault.gpu, 1u);
  EXPECT_EQ(fault.return_code, 15u);
  EXPECT_EQ(fault.times, 3u);
  EXPECT_EQ(fault.delay_ns, 20 * kMs);
  EXPECT_FALSE(fault.span.holds(99 * kMs));
  EXPECT_TRUE(fault.span.holds(100 * kMs));
  EXPECT_FALSE(fault.span.holds(200 * kMs));
  EXPECT_EQ(scenario.faults[1].delay_ns, kForever);
  EXPECT_EQ(scenario.faults[1].return_code, 37u);
  EXPECT_FALSE(scenario.faults[1].gpu);
}

TEST(Scenario, ReadsEventsOverridesAndProcesses) {
  const Scenario scenario =
      parse(kDevice +
            "[[event]]\ngpu = 0\nat_ms = 5\nxid = 79\n"
            "[[event]]\ngpu = \"all\"\ntype = 0x100\n"
            "[[override]]\nreading = \"temp_c\"\nvalue = -5\nper_second = 2\n"
            "[[process]]\nkind = \"mps\"\npid = 9\nmemory_bytes = 0xffffffffffffffff\n"
            "sm_percent = 40\n");
  EXPECT_EQ(scenario.events[0].type, 8u);
  EXPECT_EQ(scenario.events[0].number, 79u);
  EXPECT_EQ(scenario.events[1].type, 0x100u);
  EXPECT_FALSE(scenario.events[1].gpu);
  EXPECT_EQ(scenario.overrides[0].column, Column::kTemp);
  EXPECT_EQ(scenario.overrides[0].value, -5);
  EXPECT_EQ(scenario.overrides[0].per_second, 2);
  EXPECT_EQ(scenario.processes[0].kind, ProcessKind::kMps);
  EXPECT_EQ(scenario.processes[0].memory_bytes, ~std::uint64_t{0});
}

TEST(Scenario, NamesTheLineOfAMistake) {
  EXPECT_EQ(error_of("x = 1\n" + kDevice), "s.toml:1: no key 'x' here");
  EXPECT_EQ(error_of(kDevice + "profile = \"v100\"\n"), "s.toml:3: profile: no choice 'v100'");
  EXPECT_EQ(error_of(kDevice + "[[fan]]\n"), "s.toml:3: no section 'fan'");
  EXPECT_EQ(error_of(kDevice + "nonsense\n"), "s.toml:3: neither 'key = value' nor '[[section]]'");
  EXPECT_EQ(error_of(kDevice + "uuid = \"x\n"), "s.toml:3: a string without its closing quote");
  EXPECT_EQ(error_of(kDevice + "[[fault]]\nreturn = \"LOST\"\n"),
            "s.toml:4: return: no return code 'LOST'");
  EXPECT_EQ(error_of(kDevice + "[[fault]]\ntimes = 0\n"),
            "s.toml:4: times: not a number in its range");
  EXPECT_EQ(error_of(kDevice + "[[override]]\nreading = \"x\"\n"),
            "s.toml:4: reading: no reading 'x'");
  EXPECT_EQ(error_of(kDevice + "[[event]]\ngpu = \"some\"\n"),
            "s.toml:4: gpu: neither a GPU's number nor \"all\"");
  EXPECT_EQ(error_of("# empty\n"), "s.toml:2: no [[device]]");
}

TEST(Scenario, RefusesADeviceWithoutATraceOrWithAnEmptyLoop) {
  const std::string message = "s.toml: a [[device]] without a trace or with an empty loop";
  EXPECT_EQ(error_of("[[device]]\nprofile = \"h200\"\n"), message);
  EXPECT_EQ(error_of(kDevice + "loop_begin_ms = 5\nloop_end_ms = 5\n"), message);
}

// What is misspelt or left out would else do nothing, and a test of it would pass.
TEST(Scenario, RefusesWhatWouldNeverHappen) {
  EXPECT_EQ(error_of(kDevice + "[[fault]]\nfunction = \"nvmlDeviceGetNam\"\n"),
            "s.toml:4: function: no function 'nvmlDeviceGetNam'");
  EXPECT_EQ(error_of(kDevice + "[[fault]]\nhangs = yes\n"),
            "s.toml:4: hangs: neither true nor false");
  EXPECT_EQ(error_of(kDevice + "[[fault]]\nreturn = 3\n[[event]]\n"),
            "s.toml:5: the section before has no 'function'");
  EXPECT_EQ(error_of(kDevice + "[[override]]\nvalue = 3\n"),
            "s.toml:5: the section before has no 'reading'");
  EXPECT_EQ(error_of(kDevice + "[[process]]\nsm_percent = 3\n"),
            "s.toml:5: the section before has no 'pid'");
  EXPECT_EQ(error_of(kDevice + "[[event]]\ngpu = 1\n"), "s.toml: gpu 1 is no [[device]]");
}

TEST(Scenario, RefusesMoreDevicesThanThereAreBuses) {
  std::string text;
  for (int i = 0; i < 255; ++i)
    text += kDevice;
  EXPECT_EQ(error_of(text), "s.toml:511: more than 254 [[device]]");
}

TEST(Scenario, RefusesMoreFaultsThanThePlayheadCounts) {
  std::string text = kDevice;
  for (int i = 0; i < 65; ++i)
    text += "[[fault]]\nfunction = \"*\"\nreturn = 3\n";
  EXPECT_EQ(error_of(text), "s.toml:198: more than 64 [[fault]]");
}

TEST(Scenario, IsReadBackAsItWasWritten) {
  Scenario written;
  written.playhead = "playhead";
  written.devices.push_back(
      {.trace = "/t/gemm", .loop = Loop{1'000 * kMs, 2'000 * kMs, 3'000 * kMs}});
  written.devices.push_back({.trace = "/t/fed", .profile = "a100"});
  const Scenario read = parse(format_scenario(written));
  EXPECT_EQ(read.playhead, "/sims/playhead");
  ASSERT_EQ(read.devices.size(), 2u);
  EXPECT_EQ(read.devices[0].loop, written.devices[0].loop);
  EXPECT_EQ(read.devices[1].trace, "/t/fed");
  EXPECT_EQ(read.devices[1].profile, "a100");
}

TEST(ReturnNames, AreKnownByNameAndByNumber) {
  EXPECT_EQ(parse_return("NOT_SUPPORTED"), 3u);
  EXPECT_EQ(parse_return("999"), 999u);
  EXPECT_EQ(parse_return("37"), 37u);
  EXPECT_FALSE(parse_return("nothing"));
  EXPECT_STREQ(describe_return(15), "GPU is lost");
  EXPECT_STREQ(describe_return(12345), "Unknown Error");
}

TEST(ReturnNames, HexadecimalNeedsDigitsAndNothingElse) {
  EXPECT_EQ(parse_hex("ff9f"), 0xff9fu);
  EXPECT_FALSE(parse_hex(""));
  EXPECT_FALSE(parse_hex("12x"));
  EXPECT_FALSE(parse_hex("10000000000000000"));
}

}  // namespace
}  // namespace everywatt::sim
