// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <filesystem>

#include "app/backoff.h"
#include "app/child.h"
#include "app/demo.h"
#include "app/listener.h"
#include "app/part.h"
#include "app/replay.h"
#include "base/file.h"

namespace everywatt::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ChildOptions shell(const std::string& script) {
  return {.program = "/bin/sh", .arguments = {"sh", "-c", script}, .descriptors = {}};
}

TEST(Child, TellsHowItEnded) {
  auto child = Child::start(shell("exit 7"));
  ASSERT_TRUE(child);
  const auto ending = child->wait_for(10'000);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->exit_status, 7);
  EXPECT_EQ(ending->text, "exit status 7");
  EXPECT_EQ(child->pid(), 0);
  EXPECT_FALSE(child->try_wait());
}

TEST(Child, TellsWhichSignalKilledIt) {
  auto child = Child::start(shell("exec sleep 100"));
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->try_wait());
  child->signal(SIGKILL);
  const auto ending = child->wait_for(10'000);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->exit_status, 137);
  EXPECT_THAT(ending->text, HasSubstr("killed by signal 9"));
}

TEST(Child, OfAMissingProgramEndsWith127) {
  auto child = Child::start({.program = "/nowhere", .arguments = {"x"}, .descriptors = {}});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->wait_for(10'000)->exit_status, 127);
}

TEST(Child, GetsItsDescriptorsUnderFixedNumbersAndNoOthers) {
  const auto settings = make_settings_fd([] {
    Config config = default_config();
    override_setting(config, "host.root", "/x");
    return config;
  }());
  ASSERT_TRUE(settings);
  const base::UniqueFd other(::dup(settings->get()));
  ChildOptions options =
      shell("grep -q 'host.root = \"/x\"' /proc/self/fd/4 && ! [ -e /dev/fd/5 ]");
  options.descriptors = {0, settings->get()};
  auto child = Child::start(options);
  ASSERT_TRUE(child);
  EXPECT_EQ(child->wait_for(10'000)->exit_status, 0);
}

TEST(Child, GetsItsDescriptorsUnderALowLimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 40;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  ChildOptions options = shell("[ -e /proc/self/fd/4 ]");
  options.descriptors = {0, 0};
  auto child = Child::start(options);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(child);
  EXPECT_EQ(child->wait_for(10'000)->exit_status, 0);
}

TEST(Child, SeesTheEnvironmentGivenToIt) {
  ChildOptions options = shell("[ \"$EVERYWATT_SIM\" = /demo ] && [ -n \"$PATH\" ]");
  options.environment = {{"EVERYWATT_SIM", "/demo"}};
  auto child = Child::start(options);
  ASSERT_TRUE(child);
  EXPECT_EQ(child->wait_for(10'000)->exit_status, 0);
}

TEST(Child, IsGoneWithItsOwner) {
  pid_t pid = 0;
  {
    auto child = Child::start(shell("exec sleep 100"));
    ASSERT_TRUE(child);
    pid = child->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(Backoff, DoublesUpToItsLongestAndForgetsAfterAGoodTime) {
  Backoff backoff(100, 1000, 5000);
  EXPECT_EQ(backoff.next(0), 100);
  EXPECT_EQ(backoff.next(0), 200);
  EXPECT_EQ(backoff.next(4999), 400);
  EXPECT_EQ(backoff.next(0), 800);
  EXPECT_EQ(backoff.next(0), 1000);
  EXPECT_EQ(backoff.next(0), 1000);
  EXPECT_EQ(backoff.next(5000), 100);
}

TEST(Listener, TakesAFreePort) {
  const auto listener = Listener::open("127.0.0.1", 0);
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_NE(listener->port, 0);
  const auto second = Listener::open("127.0.0.1", listener->port);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("is in use"));
}

TEST(Listener, NeedsAnAddress) {
  const auto listener = Listener::open("here", 0);
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, base::Code::kInvalidArgument);
}

TEST(Listener, NamesItselfForPeople) {
  EXPECT_EQ(make_url("127.0.0.1", 9400), "http://127.0.0.1:9400");
  EXPECT_EQ(make_url("0.0.0.0", 80), "http://127.0.0.1:80");
  EXPECT_EQ(make_url("::1", 80), "http://[::1]:80");
}

TEST(PartWords, SurviveTheirWayThroughACommandLine) {
  const PartWords words{.parent = 42,
                        .pci_addresses = {"0000:01:00.0", "0000:02:00.0"},
                        .fenced = {0, 2},
                        .note = "demo"};
  const std::vector<std::string> line = format_part_words("sampler", words);
  EXPECT_THAT(line, ElementsAre("everywatt", "part", "sampler", "parent=42",
                                "pci=0000:01:00.0,0000:02:00.0", "fenced=0,2", "note=demo"));
  const auto parsed = parse_part_words({line.begin() + 3, line.end()});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->parent, 42);
  EXPECT_EQ(parsed->pci_addresses, words.pci_addresses);
  EXPECT_EQ(parsed->fenced, words.fenced);
  EXPECT_EQ(parsed->note, "demo");
  EXPECT_FALSE(parse_part_words({"port=1"}));
}

TEST(Demo, CountsTheGpusThatItsNamesStandFor) {
  EXPECT_EQ(count_demo_gpus("all"), 11u);
  EXPECT_EQ(count_demo_gpus("scenario:gpu_lost"), 11u);
  EXPECT_EQ(count_demo_gpus("gemm"), 1u);
  EXPECT_EQ(count_demo_gpus("gemm,fed"), 2u);
  EXPECT_EQ(count_demo_gpus(std::string(EVERYWATT_SOURCE_DIR) + "/traces"), 11u);
}

TEST(Demo, KnowsWhichTraceEachGpuPlays) {
  EXPECT_THAT(find_trace_names("playhead = \"playhead\"\n[[device]]\ntrace = \"/a b/gemm\"\n"
                               "profile = \"h200\"\n[[device]]\ntrace=\"fed\"\n"),
              ElementsAre("gemm", "fed"));
  EXPECT_THAT(find_trace_names("trace = \n"), testing::IsEmpty());
}

TEST(Replay, GoesFromTheFirstRowToTheLastAndAgain) {
  EXPECT_EQ(replayed_ns(1000, 1100, 0), 1000);
  EXPECT_EQ(replayed_ns(1000, 1100, 99), 1099);
  EXPECT_EQ(replayed_ns(1000, 1100, 100), 1000);
  EXPECT_EQ(replayed_ns(1000, 1100, 250), 1050);
  EXPECT_EQ(replayed_ns(1000, 1000, 5), 1000);
}

}  // namespace
}  // namespace everywatt::app
