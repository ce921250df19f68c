// SPDX-License-Identifier: Apache-2.0
#include "app/courier_desk.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "serve/courier_link/door.h"
#include "serve/courier_link/token_hash.h"

namespace everywatt::app {
namespace {

using courier_link::ChannelKeys;
using courier_link::FromCourier;
using courier_link::Reply;
using courier_link::Status;

// A desk, with the test as supervisor and server.
class CourierDeskTest : public testing::Test {
 protected:
  void SetUp() override {
    token_path_ = testing::TempDir() + "courier-desk-token";
    write_token("secret");
    auto door = *courier_link::make_door();
    door_ = std::move(door.ours);
    notify::ChannelOptions ops{.name = "ops"};
    ops.receiver_token.file = token_path_;
    desk_.emplace(CourierDeskOptions{
        .door = std::move(door.theirs),
        .channels = {ops, {.name = "open"}},
        .accept =
            [this](std::string_view channel, std::string_view payload) {
              accepted_ += std::string(channel) + ":" + std::string(payload) + ";";
              return outcome_;
            },
        .status = [this] { return status_; },
        .clock = [this] { return now_ns_; }});
  }
  void TearDown() override { std::remove(token_path_.c_str()); }

  void write_token(const std::string& token) const { std::ofstream(token_path_) << token << "\n"; }

  void connect() {
    auto link = *courier_link::make_link();
    ASSERT_TRUE(courier_link::pass_descriptor(door_.get(), link.theirs.get()));
    server_.emplace(std::move(link.ours), courier_link::kFrameLimitBytes);
    desk_->turn(0);
  }
  std::vector<FromCourier> heard() {
    std::vector<FromCourier> messages;
    const auto frames = server_->receive();
    if (!frames) return messages;
    for (const std::string& frame : *frames)
      messages.push_back(*courier_link::parse_from_courier(frame));
    return messages;
  }
  Reply post(const std::string& body) {
    EXPECT_TRUE(
        server_->send(courier_link::format_delivery({.id = 5, .channel = "ops", .body = body})));
    desk_->turn(0);
    const auto messages = heard();
    return messages.empty() ? Reply{} : std::get<Reply>(messages.front());
  }

  std::string token_path_;
  std::int64_t now_ns_ = 1;
  base::UniqueFd door_;
  std::optional<courier_link::Link> server_;
  std::string accepted_;
  base::Status outcome_;
  Status status_;
  std::optional<CourierDesk> desk_;
};

TEST_F(CourierDeskTest, WhoConnectsIsToldTheTokensHashesAndHowThingsStand) {
  connect();
  const auto messages = heard();
  ASSERT_EQ(messages.size(), 2U);
  const ChannelKeys keys = {{.name = "ops", .token_sha256 = courier_link::hash_token("secret")},
                            {.name = "open"}};
  EXPECT_EQ(messages[0], FromCourier(keys));
  EXPECT_EQ(messages[1], FromCourier(Status{}));
}

TEST_F(CourierDeskTest, WhatChangesIsToldOnceASecond) {
  connect();
  heard();
  write_token("other");
  status_.cpu_ns = 7;
  desk_->turn(0);
  EXPECT_TRUE(heard().empty());
  now_ns_ += 1'000'000'000;
  desk_->turn(0);
  const auto messages = heard();
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(std::get<ChannelKeys>(messages[0])[0].token_sha256, courier_link::hash_token("other"));
  EXPECT_EQ(std::get<Status>(messages[1]).cpu_ns, 7U);
  now_ns_ += 1'000'000'000;
  desk_->turn(0);
  EXPECT_TRUE(heard().empty());
}

TEST_F(CourierDeskTest, ATokenThatCannotBeReadIsNone) {
  std::remove(token_path_.c_str());
  connect();
  EXPECT_EQ(std::get<ChannelKeys>(heard().front())[0].token_sha256, "");
}

TEST_F(CourierDeskTest, ADeliveryIsAnsweredWithWhatBecameOfIt) {
  connect();
  heard();
  EXPECT_EQ(post("one"), (Reply{.id = 5, .code = 202}));
  outcome_ = base::fail(base::Code::kInvalidArgument, "no alerts\nin it");
  EXPECT_EQ(post("two").code, 400U);
  outcome_ = base::fail(base::Code::kNotFound, "no such channel");
  EXPECT_EQ(post("three"), (Reply{.id = 5, .code = 404, .message = "no such channel"}));
  outcome_ = base::fail(base::Code::kIo, "the disk is full");
  EXPECT_EQ(post("four"), (Reply{.id = 5, .code = 503, .message = "the disk is full"}));
  EXPECT_EQ(accepted_, "ops:one;ops:two;ops:three;ops:four;");
}

TEST_F(CourierDeskTest, ANewServerIsHeardAfterTheOldHasGone) {
  connect();
  heard();
  server_.reset();
  desk_->turn(0);
  connect();
  EXPECT_EQ(heard().size(), 2U);
  EXPECT_EQ(post("again").code, 202U);
}

TEST_F(CourierDeskTest, AServerThatSendsNoMessagesIsNotHeardAnyMore) {
  connect();
  heard();
  ASSERT_TRUE(server_->send("nonsense"));
  desk_->turn(0);
  EXPECT_EQ(server_->receive().error().code, base::Code::kUnavailable);
}

}  // namespace
}  // namespace everywatt::app
