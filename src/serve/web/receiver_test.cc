// SPDX-License-Identifier: Apache-2.0
#include "serve/web/receiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "serve/courier_link/door.h"
#include "serve/courier_link/token_hash.h"
#include "serve/web/receiver_metrics.h"

namespace everywatt::web {
namespace {

using testing::HasSubstr;

// A receiver, with the test as supervisor and courier.
class ReceiverTest : public testing::Test {
 protected:
  ReceiverTest() {
    auto door = *courier_link::make_door();
    door_ = std::move(door.ours);
    receiver_.emplace(
        ReceiverOptions{.door = std::move(door.theirs),
                        .status = {.channels = {{.name = "ops", .type = "dingtalk"},
                                                {.name = "open", .type = "mail"}}}},
        [this](int descriptor, Readiness readiness, std::function<Watching()> act) {
          watched_.push_back({descriptor, readiness, std::move(act)});
          return base::Status();
        },
        [this] { return now_ns_; });
    EXPECT_TRUE(receiver_->start());
  }

  // What the connections' loop does: calls whoever waits for what is ready, until none is.
  void work() {
    for (bool is_idle = false; !is_idle;) {
      is_idle = true;
      for (std::size_t i = 0; i < watched_.size(); ++i) {
        const Watched watched = watched_[i];
        const short event = watched.readiness == Readiness::kToRead ? POLLIN : POLLOUT;
        pollfd waited{.fd = watched.descriptor, .events = event, .revents = 0};
        if (watched.descriptor < 0 || ::poll(&waited, 1, 0) <= 0) continue;
        is_idle = false;
        if (watched.act() == Watching::kEnd) watched_[i].descriptor = -1;
      }
      std::erase_if(watched_, [](const Watched& each) { return each.descriptor < 0; });
    }
  }

  void connect() {
    auto link = *courier_link::make_link();
    ASSERT_TRUE(courier_link::pass_descriptor(door_.get(), link.theirs.get()));
    courier_.emplace(std::move(link.ours), std::size_t{1} << 20);
    work();
  }
  void tell(const courier_link::FromCourier& message) {
    ASSERT_TRUE(courier_->send(courier_link::format_from_courier(message)));
    work();
  }
  void tell_keys() {
    tell(courier_link::ChannelKeys{
        {.name = "ops", .token_sha256 = courier_link::hash_token("secret")}, {.name = "open"}});
  }

  static Request request(std::string authorization = "Bearer secret") {
    Request request;
    request.method = Method::kPost;
    request.host = "localhost:9400";
    request.authorization_fields = authorization.empty() ? 0 : 1;
    request.authorization = std::move(authorization);
    request.content_type = "application/json; charset=utf-8";
    return request;
  }
  unsigned status(std::string_view channel, const Request& request) {
    const Response response = receiver_->answer(channel, request);
    return response.upload ? 0 : response.status;
  }
  // The answer comes into `answered_`.
  void post(std::string body) {
    const Response response = receiver_->answer("ops", request());
    ASSERT_TRUE(response.upload);
    response.upload->take(std::move(body),
                          [this](Response answer) { answered_.push_back(std::move(answer)); });
  }
  std::vector<courier_link::Delivery> deliveries() {
    std::vector<courier_link::Delivery> all;
    const auto frames = courier_->receive();
    if (!frames) return all;
    for (const std::string& frame : *frames)
      all.push_back(*courier_link::parse_delivery(frame));
    return all;
  }
  std::string metrics() {
    std::string text;
    exporter::Exposition out(text);
    receiver_->append_metrics(out);
    return text;
  }

  struct Watched {
    int descriptor;
    Readiness readiness;
    std::function<Watching()> act;
  };
  std::vector<Watched> watched_;
  std::int64_t now_ns_ = 1'000'000'000;
  base::UniqueFd door_;
  std::optional<courier_link::Link> courier_;
  std::vector<Response> answered_;
  std::optional<Receiver> receiver_;
};

TEST_F(ReceiverTest, WhatIsPostedReachesTheCourierAndItsReplyTheSender) {
  connect();
  tell_keys();
  post("{\"version\":\"4\"}");
  post("second");
  const auto delivered = deliveries();
  ASSERT_EQ(delivered.size(), 2U);
  EXPECT_EQ(delivered[0].channel, "ops");
  EXPECT_EQ(delivered[0].body, "{\"version\":\"4\"}");
  EXPECT_TRUE(answered_.empty());
  tell(courier_link::Reply{.id = delivered[1].id, .code = 400, .message = "no \"payload\""});
  tell(courier_link::Reply{.id = delivered[0].id, .code = 202});
  ASSERT_EQ(answered_.size(), 2U);
  EXPECT_EQ(answered_[0].status, 400U);
  EXPECT_EQ(answered_[0].body.bytes, "{\"error\":\"no \\\"payload\\\"\"}\n");
  EXPECT_EQ(answered_[1].status, 202U);
  // Said twice, and of what nobody posted.
  tell(courier_link::Reply{.id = delivered[0].id, .code = 202});
  tell(courier_link::Reply{.id = 99, .code = 202});
  EXPECT_EQ(answered_.size(), 2U);
}

TEST_F(ReceiverTest, WhoHasNotTheTokenIsRefusedBeforeTheBody) {
  EXPECT_EQ(status("ops", request()), 503U);  // nobody has told the tokens
  connect();
  tell_keys();
  EXPECT_EQ(status("ops", request()), 0U);
  EXPECT_EQ(status("ops", request("bearer secret")), 0U);
  for (const char* wrong : {"", "Bearer wrong", "Bearer ", "Bearer secret2", "Basic secret",
                            "secret", "Bearer", "Bearer SECRET"}) {
    EXPECT_EQ(status("ops", request(wrong)), 401U) << wrong;
  }
  EXPECT_EQ(receiver_->answer("ops", request("")).challenge, "Bearer realm=\"everywatt\"");
  Request twice = request();
  twice.authorization_fields = 2;
  EXPECT_EQ(status("ops", twice), 401U);
  EXPECT_EQ(status("open", request()), 403U);
  Request known = request("");
  known.who = Who::kAuthenticated;
  EXPECT_EQ(status("open", known), 0U);
}

TEST_F(ReceiverTest, WhoGuessesTokensMustWaitAndWhoIsKnownNot) {
  connect();
  tell_keys();
  const auto from = [](std::string client, std::string authorization) {
    Request made = request(std::move(authorization));
    made.client = std::move(client);
    return made;
  };
  EXPECT_EQ(status("ops", from("10.0.0.1", "Bearer secret")), 0U);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(status("ops", from("10.0.0.1", "Bearer guess")), 401U);
  const Response refused = receiver_->answer("ops", from("10.0.0.1", "Bearer guess"));
  EXPECT_EQ(refused.status, 429U);
  EXPECT_EQ(refused.retry_after_s, 6U);
  EXPECT_EQ(status("ops", from("10.0.0.1", "Bearer secret")), 0U);
  EXPECT_EQ(status("ops", from("10.0.0.1", "")), 401U);
  EXPECT_EQ(status("ops", from("10.0.0.2", "Bearer guess")), 401U);
  // The server's own tokens can be guessed here as well.
  Request right = from("10.0.0.1", "Bearer of the server");
  right.who = Who::kAuthenticated;
  EXPECT_EQ(status("ops", right), 429U);
  now_ns_ += 6'000'000'000;
  EXPECT_EQ(status("ops", right), 0U);
  // What was right once is of no use when the token has changed.
  tell(courier_link::ChannelKeys{{.name = "ops", .token_sha256 = courier_link::hash_token("new")}});
  EXPECT_EQ(status("ops", from("10.0.0.1", "Bearer secret")), 401U);
}

TEST_F(ReceiverTest, RequestsThatAreNoneAreRefused) {
  connect();
  tell_keys();
  EXPECT_EQ(status("other", request()), 404U);
  EXPECT_EQ(status("", request()), 404U);
  EXPECT_EQ(status("ops/", request()), 404U);
  Request get = request();
  get.method = Method::kGet;
  EXPECT_EQ(status("ops", get), 405U);
  EXPECT_EQ(receiver_->answer("ops", get).allow, "POST");
  Request form = request();
  form.content_type = "application/x-www-form-urlencoded";
  EXPECT_EQ(status("ops", form), 415U);
  Request page = request();
  page.origin = "http://evil.example";
  EXPECT_EQ(status("ops", page), 403U);
  page.origin = "http://localhost:9400";
  EXPECT_EQ(status("ops", page), 0U);
}

TEST_F(ReceiverTest, WithoutTheCourierTheSenderIsToTryAgain) {
  connect();
  tell_keys();
  post("body");
  courier_.reset();
  work();
  ASSERT_EQ(answered_.size(), 1U);
  EXPECT_EQ(answered_[0].status, 503U);
  EXPECT_EQ(status("ops", request()), 503U);
  EXPECT_EQ(status("ops", request("Bearer wrong")), 401U);
  connect();
  post("again");
  EXPECT_EQ(deliveries().size(), 1U);
}

TEST_F(ReceiverTest, ANewConnectionTakesThePlaceOfTheOld) {
  connect();
  tell_keys();
  std::optional<courier_link::Link> old = std::move(courier_);
  connect();
  EXPECT_FALSE(old->receive());
  post("to the new one");
  EXPECT_EQ(deliveries().size(), 1U);
}

TEST_F(ReceiverTest, NoMoreBodiesThanItsBoundAreTakenAtOnce) {
  connect();
  tell_keys();
  std::vector<Response> open;
  for (unsigned i = 0; i < Receiver::kAtOnce; ++i) {
    open.push_back(receiver_->answer("ops", request()));
    EXPECT_TRUE(open.back().upload);
  }
  EXPECT_EQ(status("ops", request()), 503U);
  open.pop_back();
  EXPECT_EQ(status("ops", request()), 0U);
}

TEST_F(ReceiverTest, LargeBodiesGoOutAsTheCourierTakesThem) {
  connect();
  tell_keys();
  const std::string body(Receiver::kBodyBytes, 'x');
  for (unsigned i = 0; i < 3; ++i)
    post(body);
  std::size_t taken = 0;
  while (taken < 3) {
    for (const auto& delivery : deliveries()) {
      EXPECT_EQ(delivery.body.size(), body.size());
      ++taken;
    }
    work();
  }
  EXPECT_TRUE(answered_.empty());
}

TEST_F(ReceiverTest, WhatTheCourierDoesNotTakeIsRefusedWhenTooMuchWaits) {
  connect();
  tell_keys();
  const std::string body(Receiver::kBodyBytes, 'x');
  for (unsigned i = 0; i <= Receiver::kAtOnce; ++i)
    post(body);
  ASSERT_FALSE(answered_.empty());
  EXPECT_EQ(answered_.front().status, 503U);
}

TEST_F(ReceiverTest, AReplyThatComesTooLateIsForgotten) {
  connect();
  tell_keys();
  post("slow");
  const auto delivered = deliveries();
  now_ns_ += 7'000'000'000;
  post("next");
  tell(courier_link::Reply{.id = delivered[0].id, .code = 202});
  EXPECT_TRUE(answered_.empty());
}

TEST_F(ReceiverTest, AMessageThatIsNoneEndsTheConnection) {
  connect();
  tell_keys();
  ASSERT_TRUE(courier_->send("{\"status\":1}"));
  work();
  EXPECT_EQ(status("ops", request()), 503U);
}

TEST_F(ReceiverTest, MetricsAreThereFromTheStartAndFollowTheCourier) {
  EXPECT_THAT(metrics(), HasSubstr("everywatt_courier_connected 0\n"));
  EXPECT_THAT(metrics(),
              HasSubstr("everywatt_notify_sent_total{channel=\"ops\",type=\"dingtalk\"} 0\n"));
  EXPECT_THAT(metrics(), testing::Not(HasSubstr("resident_bytes")));
  connect();
  EXPECT_THAT(metrics(), HasSubstr("everywatt_courier_connected 0\n"));  // it knows no token yet
  tell_keys();
  tell(courier_link::Status{.channels = {{.name = "ops",
                                          .type = "dingtalk",
                                          .queued = 1,
                                          .sent_total = 2,
                                          .failed_total = {{"refused", 3}, {"timeout", 0}},
                                          .last_success_unix = 1'800'000'000}},
                            .remote_write = {{.name = "central",
                                              .queued_samples = 4,
                                              .failed_samples_total = {{"400", 5}, {"413", 0}}}},
                            .cpu_ns = 1'500'000'000,
                            .resident_bytes = 4096});
  EXPECT_EQ(
      metrics(),
      R"(# HELP everywatt_courier_connected 1: the process that sends is there and talks to the server.
# TYPE everywatt_courier_connected gauge
everywatt_courier_connected 1
# HELP everywatt_courier_cpu_seconds_total CPU time of the process that sends.
# TYPE everywatt_courier_cpu_seconds_total counter
everywatt_courier_cpu_seconds_total 1.5
# HELP everywatt_courier_resident_bytes Memory of the process that sends.
# TYPE everywatt_courier_resident_bytes gauge
everywatt_courier_resident_bytes 4096
# HELP everywatt_notify_queued Notifications that wait on the disk.
# TYPE everywatt_notify_queued gauge
everywatt_notify_queued{channel="ops",type="dingtalk"} 1
# HELP everywatt_notify_sent_total Messages that the channel took.
# TYPE everywatt_notify_sent_total counter
everywatt_notify_sent_total{channel="ops",type="dingtalk"} 2
# HELP everywatt_notify_dropped_total Notifications for which there was no room on the disk.
# TYPE everywatt_notify_dropped_total counter
everywatt_notify_dropped_total{channel="ops",type="dingtalk"} 0
# HELP everywatt_notify_retried_total Messages that were sent again.
# TYPE everywatt_notify_retried_total counter
everywatt_notify_retried_total{channel="ops",type="dingtalk"} 0
# HELP everywatt_notify_digests_total Messages that sum up what was beyond the channel's budget.
# TYPE everywatt_notify_digests_total counter
everywatt_notify_digests_total{channel="ops",type="dingtalk"} 0
# HELP everywatt_notify_failed_total Notifications that were given up, by reason.
# TYPE everywatt_notify_failed_total counter
everywatt_notify_failed_total{channel="ops",type="dingtalk",reason="refused"} 3
everywatt_notify_failed_total{channel="ops",type="dingtalk",reason="timeout"} 0
# HELP everywatt_notify_last_success_timestamp_seconds When something was last taken, in seconds since 1970.
# TYPE everywatt_notify_last_success_timestamp_seconds gauge
everywatt_notify_last_success_timestamp_seconds{channel="ops",type="dingtalk"} 1800000000
# HELP everywatt_remote_write_queued_samples Samples that the receiver did not take yet.
# TYPE everywatt_remote_write_queued_samples gauge
everywatt_remote_write_queued_samples{destination="central"} 4
# HELP everywatt_remote_write_queued_bytes What they take on the disk.
# TYPE everywatt_remote_write_queued_bytes gauge
everywatt_remote_write_queued_bytes{destination="central"} 0
# HELP everywatt_remote_write_sent_samples_total Samples that the receiver took.
# TYPE everywatt_remote_write_sent_samples_total counter
everywatt_remote_write_sent_samples_total{destination="central"} 0
# HELP everywatt_remote_write_dropped_samples_total Samples for which the queue had no room.
# TYPE everywatt_remote_write_dropped_samples_total counter
everywatt_remote_write_dropped_samples_total{destination="central"} 0
# HELP everywatt_remote_write_retries_total Requests that were sent again.
# TYPE everywatt_remote_write_retries_total counter
everywatt_remote_write_retries_total{destination="central"} 0
# HELP everywatt_remote_write_failed_samples_total Samples that the receiver refused for good, by reason.
# TYPE everywatt_remote_write_failed_samples_total counter
everywatt_remote_write_failed_samples_total{destination="central",reason="400"} 5
everywatt_remote_write_failed_samples_total{destination="central",reason="413"} 0
)");
}

}  // namespace
}  // namespace everywatt::web
