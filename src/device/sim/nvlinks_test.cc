// SPDX-License-Identifier: Apache-2.0
#include "device/sim/nvlinks.h"

#include <gtest/gtest.h>

#include "device/nvml/abi.h"

namespace everywatt::sim {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
namespace error = nvml::abi::nvlink_error;

// GPU 0 and 1 hang at switch 0 by all their links; GPU 2 has none.
Scenario two_at_a_switch() {
  Scenario scenario;
  for (const char* profile : {"h200", "a100", "h200"}) {
    DeviceEntry& device = scenario.devices.emplace_back();
    device.profile = profile;
  }
  for (const std::uint32_t gpu : {0u, 1u}) {
    scenario.links.push_back(
        {.gpu = gpu, .state = LinkState::kUp, .remote = "switch:0", .bytes_per_second = 1'000});
  }
  return scenario;
}

TEST(NvLinks, AGpuHasAsManyAsItsProfileWhereTheScenarioSpeaksOfSome) {
  const Scenario scenario = two_at_a_switch();
  EXPECT_EQ(count_links(scenario, 0), 18u);
  EXPECT_EQ(count_links(scenario, 1), 12u);
  EXPECT_EQ(count_links(scenario, 2), 0u);
}

TEST(NvLinks, ALinkThatNoEntrySpeaksOfIsDown) {
  Scenario scenario = two_at_a_switch();
  scenario.links = {{.gpu = 0, .link = 3, .state = LinkState::kUp}};
  EXPECT_EQ(link_at(scenario, 0, 3, 0).state, LinkState::kUp);
  EXPECT_EQ(link_at(scenario, 0, 4, 0).state, LinkState::kDown);
  EXPECT_EQ(link_at(scenario, 0, 3, 0).version, 6u);
  EXPECT_FALSE(link_at(scenario, 0, 3, 0).remote);
}

TEST(NvLinks, ALaterEntryChangesWhatItSaysAndLeavesTheRest) {
  Scenario scenario = two_at_a_switch();
  scenario.links.push_back(
      {.gpu = 0, .link = 3, .state = LinkState::kDown, .span = {2 * kSecond, 5 * kSecond}});
  EXPECT_EQ(link_at(scenario, 0, 3, 2 * kSecond - 1).state, LinkState::kUp);
  const LinkNow down = link_at(scenario, 0, 3, 2 * kSecond);
  EXPECT_EQ(down.state, LinkState::kDown);
  EXPECT_EQ(down.bytes_per_second, 1'000u);
  EXPECT_EQ(down.receive_bytes_per_second, 1'000u);
  ASSERT_TRUE(down.remote);
  EXPECT_EQ(down.remote->kind, Remote::Kind::kSwitch);
  EXPECT_EQ(link_at(scenario, 0, 4, 2 * kSecond).state, LinkState::kUp);
  EXPECT_EQ(link_at(scenario, 0, 3, 5 * kSecond).state, LinkState::kUp);
}

TEST(NvLinks, NothingIsCountedWhileALinkIsNotUp) {
  Scenario scenario = two_at_a_switch();
  for (const LinkState state : {LinkState::kDown, LinkState::kUnknown}) {
    scenario.links.resize(2);
    scenario.links.push_back({.link = 3, .state = state, .span = {2 * kSecond, 5 * kSecond}});
    EXPECT_EQ(link_totals(scenario, 0, 3, 2 * kSecond).sent_bytes, 2'000u);
    EXPECT_EQ(link_totals(scenario, 0, 3, 5 * kSecond).sent_bytes, 2'000u);
    EXPECT_EQ(link_totals(scenario, 0, 3, 5'500'000'000).sent_bytes, 2'500u);
    EXPECT_EQ(link_totals(scenario, 0, 4, 5 * kSecond).sent_bytes, 5'000u);
  }
}

TEST(NvLinks, EachRateHoldsForItsSpanAndTotalsNeverFall) {
  Scenario scenario = two_at_a_switch();
  scenario.links.push_back({.gpu = 0,
                            .link = 1,
                            .errors_per_second = 250,
                            .bytes_per_second = 3'000,
                            .receive_bytes_per_second = 7,
                            .span = {1 * kSecond, 3 * kSecond}});
  const LinkTotals totals = link_totals(scenario, 0, 1, 4 * kSecond);
  EXPECT_EQ(totals.sent_bytes, 1'000u + 6'000u + 1'000u);
  EXPECT_EQ(totals.received_bytes, 1'000u + 14u + 1'000u);
  EXPECT_EQ(totals.errors, 500u);
  std::uint64_t before = 0;
  for (std::int64_t at_ns = -kSecond; at_ns < 5 * kSecond; at_ns += 7'000'000) {
    const std::uint64_t now = link_totals(scenario, 0, 1, at_ns).sent_bytes;
    EXPECT_GE(now, before);
    before = now;
  }
}

TEST(NvLinks, NothingIsCountedBeforeThePlay) {
  EXPECT_EQ(link_totals(two_at_a_switch(), 0, 0, -5 * kSecond).sent_bytes, 0u);
  EXPECT_EQ(link_totals(two_at_a_switch(), 0, 0, 0).sent_bytes, 0u);
}

TEST(NvLinks, AWrongFlitIsSentAgainAndSomeLetTheLinkRecover) {
  const LinkTotals totals{.errors = 250};
  EXPECT_EQ(totals.errors_of(error::kCrcFlit), 250u);
  EXPECT_EQ(totals.errors_of(error::kReplay), 250u);
  EXPECT_EQ(totals.errors_of(error::kRecovery), 25u);
  EXPECT_EQ(totals.errors_of(error::kCrcData), 2u);
  EXPECT_EQ(totals.errors_of(error::kEccData), 0u);
}

TEST(NvLinks, GpusAreLinkedDirectlyOrByASwitchAsLongAsALinkIsUp) {
  Scenario scenario = two_at_a_switch();
  EXPECT_TRUE(are_linked(scenario, 0, 1, 0));
  EXPECT_FALSE(are_linked(scenario, 0, 2, 0));
  scenario.links.push_back({.gpu = 1, .state = LinkState::kDown, .span = {kSecond, kForever}});
  EXPECT_FALSE(are_linked(scenario, 0, 1, kSecond));
  scenario.links.push_back({.gpu = 0, .link = 5, .remote = "gpu:1"});
  EXPECT_TRUE(are_linked(scenario, 0, 1, kSecond));
}

TEST(NvLinks, AnOtherEndIsAGpuASwitchOrTheCpu) {
  EXPECT_EQ(parse_remote("gpu:12")->number, 12u);
  EXPECT_EQ(parse_remote("switch:3")->kind, Remote::Kind::kSwitch);
  EXPECT_EQ(parse_remote("cpu")->kind, Remote::Kind::kCpu);
  for (const char* text : {"", "gpu", "gpu:", "gpu:x", "gpu:-1", "switch:99", "nic:0"})
    EXPECT_FALSE(parse_remote(text)) << text;
}

}  // namespace
}  // namespace everywatt::sim
