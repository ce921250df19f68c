// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "serve/notify/fake_door.h"
#include "serve/notify/notify_fixture.h"

namespace everywatt::notify {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

outgoing::HttpOutcome code(int errcode) {
  return {.status = 200, .body = fmt::format(R"({{"errcode":{},"errmsg":"x"}})", errcode)};
}

class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest() {
    mailbox_.boottime_ns = [this] { return now_ns_; };
  }

  ChannelOptions options(ChannelType type = ChannelType::kDingTalk) {
    ChannelOptions options = make_options(type);
    if (type != ChannelType::kMail) {
      options.url_source.file =
          folder_.write("url", "https://robot.example/open-apis/bot/v2/hook/1");
    }
    return options;
  }

  void start(ChannelOptions options) {
    auto spool = Spool::open(folder_.path() + "/spool");
    ASSERT_TRUE(spool) << spool.error().message;
    channel_.reset();
    channel_ = std::make_unique<Channel>(
        std::move(options), std::move(*spool),
        Surroundings{.boottime_ns = [this] { return now_ns_; },
                     .wall_ns = [this] { return wall_start_ns_ + now_ns_; },
                     .random = [this] { return random_; },
                     .door = std::make_unique<FakeDoor>(mailbox_)});
  }

  void accept(const std::string& name, const std::string& severity = "warning") {
    ASSERT_TRUE(channel_->accept(make_notification({make_alert(name, severity, "0")})));
  }

  // Steps whenever the channel wants to, until nothing is left or `until_ns` comes.
  void pass(std::int64_t until_ns) {
    for (int steps = 0; steps < 100'000; ++steps) {
      const auto next_ns = channel_->step({});
      if (!next_ns || *next_ns > until_ns) break;
      now_ns_ = std::max(now_ns_, *next_ns);
    }
    now_ns_ = std::max(now_ns_, until_ns);
  }
  void pass_seconds(std::int64_t seconds) { pass(now_ns_ + seconds * kSecond_ns); }

  bool holds(std::size_t index, std::string_view word) const {
    return mailbox_.bodies.at(index).find(word) != std::string::npos;
  }
  std::uint64_t failed(const std::string& reason) const {
    return channel_->status().failed_total.at(reason);
  }

  Zone zone_;
  Folder folder_;
  Mailbox mailbox_;
  std::int64_t now_ns_ = 1000 * kSecond_ns;
  std::int64_t wall_start_ns_ = kStart_ns;
  double random_ = 0.5;
  std::unique_ptr<Channel> channel_;
};

TEST_F(ChannelTest, SendsWhatItAcceptedAndForgetsIt) {
  start(options());
  accept("A");
  EXPECT_EQ(channel_->status().queued, 1u);
  pass_seconds(1);
  ASSERT_EQ(mailbox_.bodies.size(), 1u);
  EXPECT_TRUE(holds(0, "A (warning)"));
  const ChannelStatus status = channel_->status();
  EXPECT_EQ(status.queued, 0u);
  EXPECT_EQ(status.sent_total, 1u);
  EXPECT_EQ(status.last_success_unix, (wall_start_ns_ + now_ns_) / kSecond_ns - 1);
  EXPECT_FALSE(channel_->step({}));
}

TEST_F(ChannelTest, StaysBelowTwentyAMinuteWhateverComes) {
  start(options());
  for (int second = 0; second < 150; ++second) {
    for (int i = 0; i < 3; ++i)
      accept(fmt::format("S{}x{}", second, i));
    pass_seconds(1);
  }
  for (const std::int64_t from_ns : mailbox_.sent_ns) {
    const auto in_minute = std::ranges::count_if(mailbox_.sent_ns, [&](std::int64_t at_ns) {
      return at_ns >= from_ns && at_ns < from_ns + 60 * kSecond_ns;
    });
    EXPECT_LE(in_minute, 18);
  }
  pass_seconds(120);
  EXPECT_EQ(channel_->status().queued, 0u);
}

TEST_F(ChannelTest, PutsWhatWaitsIntoADigestAndLosesNothing) {
  start(options());
  for (int i = 0; i < 40; ++i)
    accept(fmt::format("Alert{:02}", i));
  pass_seconds(60);
  std::string text;
  for (const std::string& body : mailbox_.bodies)
    text += body;
  for (int i = 0; i < 40; ++i) {
    EXPECT_NE(text.find(fmt::format("Alert{:02}", i)), std::string::npos) << i;
  }
  EXPECT_LE(mailbox_.bodies.size(), 4u);
  EXPECT_NE(text.find("digest of 38 notifications"), std::string::npos);
  EXPECT_EQ(channel_->status().digests_total, 1u);
  EXPECT_EQ(channel_->status().queued, 0u);
}

TEST_F(ChannelTest, SendsCriticalsFirstAndOnTheirOwn) {
  start(options());
  for (int i = 0; i < 10; ++i)
    accept(fmt::format("Warn{}", i));
  for (int i = 0; i < 2; ++i)
    accept(fmt::format("Crit{}", i), "critical");
  pass_seconds(60);
  EXPECT_TRUE(holds(0, "Crit0"));
  EXPECT_TRUE(holds(1, "Crit1"));
  EXPECT_FALSE(holds(1, "Crit0"));
  for (std::size_t i = 2; i < mailbox_.bodies.size(); ++i)
    EXPECT_FALSE(holds(i, "Crit"));
}

TEST_F(ChannelTest, KeepsATokenForACriticalOne) {
  start(options());
  for (int i = 0; i < 10; ++i)
    accept(fmt::format("Warn{}", i));
  // Two are sent at once; the third token stays.
  pass(now_ns_);
  EXPECT_EQ(mailbox_.bodies.size(), 2u);
  accept("Crit", "critical");
  pass(now_ns_);
  ASSERT_EQ(mailbox_.bodies.size(), 3u);
  EXPECT_TRUE(holds(2, "Crit"));
}

TEST_F(ChannelTest, MakesOneDigestOfManyCriticals) {
  start(options());
  for (int i = 0; i < 30; ++i)
    accept(fmt::format("Crit{:02}", i), "critical");
  pass_seconds(60);
  EXPECT_LE(mailbox_.bodies.size(), 6u);
  std::string text;
  for (const std::string& body : mailbox_.bodies)
    text += body;
  for (int i = 0; i < 30; ++i) {
    EXPECT_NE(text.find(fmt::format("Crit{:02}", i)), std::string::npos) << i;
  }
}

TEST_F(ChannelTest, TriesAgainLaterAndLaterWhereNobodyAnswers) {
  start(options());
  mailbox_.usual = {.status = 0, .error = "nobody accepts the connection"};
  random_ = 1;
  accept("A");
  pass_seconds(3600);
  std::vector<std::int64_t> gaps_s;
  for (std::size_t i = 1; i < mailbox_.sent_ns.size(); ++i) {
    gaps_s.push_back((mailbox_.sent_ns[i] - mailbox_.sent_ns[i - 1]) / kSecond_ns);
  }
  gaps_s.resize(9);
  EXPECT_EQ(gaps_s, (std::vector<std::int64_t>{2, 4, 8, 16, 32, 64, 128, 256, 300}));
  EXPECT_EQ(channel_->status().queued, 1u);
  EXPECT_EQ(channel_->status().retried_total, mailbox_.sent_ns.size());
  mailbox_.usual = code(0);
  pass_seconds(301);
  EXPECT_EQ(channel_->status().queued, 0u);
  EXPECT_EQ(channel_->status().sent_total, 1u);
}

TEST_F(ChannelTest, HonoursRetryAfter) {
  start(options());
  mailbox_.answers = {{.status = 429, .body = "", .retry_after_s = 7}};
  random_ = 0;
  accept("A");
  pass_seconds(60);
  ASSERT_EQ(mailbox_.sent_ns.size(), 2u);
  EXPECT_EQ(mailbox_.sent_ns[1] - mailbox_.sent_ns[0], 7 * kSecond_ns + 1 * kSecond_ns);
}

TEST_F(ChannelTest, LeavesARobotAloneForTenMinutesThatBlocks) {
  start(options());
  mailbox_.answers = {code(130101)};
  accept("A");
  accept("B", "critical");
  pass_seconds(599);
  EXPECT_EQ(mailbox_.bodies.size(), 1u);
  pass_seconds(30);
  EXPECT_GE(mailbox_.bodies.size(), 2u);
  EXPECT_GE(mailbox_.sent_ns[1] - mailbox_.sent_ns[0], 600 * kSecond_ns);
}

TEST_F(ChannelTest, NeverRepeatsWhatIsRefused) {
  start(options());
  mailbox_.answers = {code(310000), code(40058), {.status = 200, .body = "<html>"}};
  for (const char* name : {"A", "B", "C"})
    accept(name);
  pass_seconds(600);
  EXPECT_EQ(failed("security"), 1u);
  EXPECT_EQ(channel_->status().queued, 0u);
  EXPECT_EQ(
      channel_->status().sent_total + failed("security") + failed("request") + failed("answer"),
      mailbox_.bodies.size());
  // Those that were given up lie there for who asks.
  EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/spool/failed/000000000001.json"));
}

TEST_F(ChannelTest, GivesUpAfterADay) {
  start(options());
  mailbox_.usual = {.status = 503};
  accept("A");
  pass_seconds(86'399);
  EXPECT_EQ(channel_->status().queued, 1u);
  pass_seconds(400);
  EXPECT_EQ(channel_->status().queued, 0u);
  EXPECT_EQ(failed("expired"), 1u);
}

TEST_F(ChannelTest, DoesNotLetOneThatFailsHoldUpTheOthers) {
  start(options());
  accept("Poison");
  mailbox_.answers = {{.status = 500}};
  pass(now_ns_);
  accept("Fine");
  pass_seconds(10);
  ASSERT_GE(mailbox_.bodies.size(), 2u);
  EXPECT_TRUE(holds(1, "Fine"));
}

TEST_F(ChannelTest, DoesNotLetAFileThatCannotBeReadHoldUpTheOthers) {
  start(options());
  for (int i = 0; i < 10; ++i)
    accept(fmt::format("Alert{}", i));
  folder_.write("spool/000000000008.json", "no notification");
  pass_seconds(600);
  EXPECT_EQ(channel_->status().queued, 0U);
  EXPECT_EQ(failed("request"), 1U);
  for (int i = 0; i < 10; ++i) {
    const auto has_it = [&](const std::string& body) {
      return body.contains(fmt::format("Alert{} ", i));
    };
    EXPECT_EQ(std::ranges::any_of(mailbox_.bodies, has_it), i != 7) << i;
  }
}

TEST_F(ChannelTest, KeepsWhatItCannotReadForAWhile) {
  start(options());
  accept("Alert0");
  const std::string file = folder_.path() + "/spool/000000000001.json";
  std::filesystem::rename(file, file + ".kept");
  std::filesystem::create_directory(file);
  pass_seconds(2);
  EXPECT_EQ(failed("request"), 0U);
  std::filesystem::remove(file);
  std::filesystem::rename(file + ".kept", file);
  pass_seconds(60);
  EXPECT_EQ(channel_->status().queued, 0U);
  EXPECT_TRUE(holds(0, "Alert0"));
}

TEST_F(ChannelTest, GoesOnAfterARestartWhereItWas) {
  start(options(ChannelType::kWeCom));
  Notification notification = storm(40, 200);
  ASSERT_TRUE(channel_->accept(notification));
  pass(now_ns_);
  const std::size_t sent = mailbox_.bodies.size();
  ASSERT_EQ(sent, 3u);
  start(options(ChannelType::kWeCom));
  EXPECT_EQ(channel_->status().queued, 1u);
  pass_seconds(120);
  ASSERT_EQ(mailbox_.bodies.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(holds(i, fmt::format("({}/4)", i + 1)));
}

TEST_F(ChannelTest, StaysBelowTwentyAMinuteHoweverOftenItIsStarted) {
  start(options());
  for (int i = 0; i < 200; ++i)
    accept(fmt::format("Crit{}", i), "critical");
  for (int starts = 0; starts < 60; ++starts) {
    start(options());
    pass_seconds(1);
  }
  EXPECT_LE(mailbox_.bodies.size(), 18U);
  pass_seconds(120);
  EXPECT_EQ(channel_->status().queued, 0U);
}

TEST_F(ChannelTest, CountsTheAgeOfWhatARestartFound) {
  start(options());
  mailbox_.usual = {.status = 503};
  accept("A");
  wall_start_ns_ += 86'400 * kSecond_ns;
  start(options());
  pass_seconds(1);
  EXPECT_EQ(failed("expired"), 1u);
}

TEST_F(ChannelTest, DropsTheOldestThatIsNotCriticalWhereItsSpoolIsFull) {
  start(options());
  accept("Crit", "critical");
  for (int i = 0; i < 1002; ++i)
    accept(fmt::format("W{}", i));
  EXPECT_EQ(channel_->status().queued, 1000u);
  EXPECT_EQ(channel_->status().dropped_total, 3u);
  pass(now_ns_);
  EXPECT_TRUE(holds(0, "Crit"));
}

TEST_F(ChannelTest, HoldsWhatItCannotSendForWantOfASecret) {
  ChannelOptions without = options();
  without.url_source.file = folder_.path() + "/later";
  start(without);
  accept("A");
  pass_seconds(90);
  EXPECT_TRUE(mailbox_.bodies.empty());
  EXPECT_EQ(channel_->status().queued, 1u);
  EXPECT_EQ(channel_->status().retried_total, 0u);
  folder_.write("later", "https://robot.example/?access_token=1\n");
  pass_seconds(31);
  EXPECT_EQ(mailbox_.bodies.size(), 1u);
}

TEST_F(ChannelTest, SendsSlackThePlainTextOnceWhereItsBlocksAreRefused) {
  start(options(ChannelType::kSlack));
  mailbox_.answers = {{.status = 400, .body = "invalid_blocks"}};
  mailbox_.usual = {.status = 200, .body = "ok"};
  accept("A");
  pass_seconds(10);
  ASSERT_EQ(mailbox_.bodies.size(), 2u);
  EXPECT_TRUE(holds(0, "\"blocks\""));
  EXPECT_FALSE(holds(1, "\"blocks\""));
  EXPECT_TRUE(holds(1, "A (warning)"));
  mailbox_.usual = {.status = 400, .body = "invalid_blocks"};
  accept("B");
  pass_seconds(600);
  EXPECT_EQ(mailbox_.bodies.size(), 4u);
  EXPECT_EQ(failed("request"), 1u);
}

TEST_F(ChannelTest, SparesFeishuTheFullHourButForCriticals) {
  start(options(ChannelType::kFeishu));
  // 07:00:05
  wall_start_ns_ = kStart_ns - kStart_ns % (3600 * kSecond_ns) + 3605 * kSecond_ns - now_ns_;
  accept("Warn");
  accept("Crit", "critical");
  pass_seconds(14);
  ASSERT_EQ(mailbox_.bodies.size(), 1u);
  EXPECT_TRUE(holds(0, "Crit"));
  pass_seconds(11);
  EXPECT_EQ(mailbox_.bodies.size(), 2u);
}

TEST_F(ChannelTest, SendsFeishuAtMostThreeInASecond) {
  start(options(ChannelType::kFeishu));
  for (int i = 0; i < 10; ++i)
    accept("Crit", "critical");
  pass_seconds(60);
  for (std::size_t i = 3; i < mailbox_.sent_ns.size(); ++i) {
    EXPECT_GT(mailbox_.sent_ns[i] - mailbox_.sent_ns[i - 3], kSecond_ns * 99 / 100);
  }
}

TEST_F(ChannelTest, GivesAProgramNoDigests) {
  ChannelOptions webhook = options(ChannelType::kWebhook);
  start(webhook);
  for (int i = 0; i < 40; ++i)
    accept(fmt::format("A{:02}", i));
  pass_seconds(60);
  EXPECT_EQ(mailbox_.bodies.size(), 40u);
  EXPECT_EQ(channel_->status().digests_total, 0u);
}

TEST_F(ChannelTest, KeepsWhatTheEndOfTheProgramCutOff) {
  start(options());
  accept("A");
  std::stop_source stop;
  mailbox_.answers = {{.status = 0, .error = "stopped"}};
  mailbox_.on_post = [&] { stop.request_stop(); };
  (void)channel_->step(stop.get_token());
  EXPECT_EQ(channel_->status().queued, 1u);
  EXPECT_EQ(channel_->status().retried_total, 0u);
}

TEST_F(ChannelTest, RunsUntilItIsToldToStop) {
  start(options());
  std::jthread thread([&](std::stop_token stop) { channel_->run(stop); });
  accept("A");
  // It has no deadline of its own; that it comes back at all is the test.
  while (channel_->status().queued > 0)
    std::this_thread::yield();
  thread.request_stop();
  thread.join();
  EXPECT_EQ(mailbox_.bodies.size(), 1u);
}

}  // namespace
}  // namespace everywatt::notify
