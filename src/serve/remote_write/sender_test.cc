// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <string>
#include <vector>

#include "serve/remote_write/queue_fixture.h"

namespace everywatt::remote_write {
namespace {

using outgoing::HttpOutcome;
using outgoing::HttpRequest;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1000 * kMs;

// A body of so many series with one sample each, the first of which has the value `first`.
exporter::Body real_body(int first, int samples) {
  exporter::WriteRequest request;
  for (int i = first; i < first + samples; ++i) {
    request.add(exporter::encode_labels(fmt::format("m{{i=\"{}\"}}", i), {}),
                std::vector{exporter::TimedValue::of(1000, i)});
  }
  return {.bytes = request.finish(), .samples = static_cast<std::size_t>(samples)};
}

class SenderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    shared_.queue = open_queue(folder_.path() + "/q");
    options_.name = "central";
    options_.url = "https://metrics.example/api/v1/write";
  }

  Sender make() {
    return Sender(options_, shared_,
                  {.post = [this](const HttpRequest& request) { return answer(request); },
                   .now_ns = [this] { return now_ns_; },
                   .wall_ns = [] { return std::int64_t{1'700'000'000} * kSecond; },
                   .random = [this] { return random_; }});
  }
  void put(int first, int samples) {
    const exporter::Body body = real_body(first, samples);
    ASSERT_TRUE(shared_.queue->append({&body, 1}, moment_of(first + 1)));
  }
  HttpOutcome answer(const HttpRequest& request) {
    requests_.push_back(request);
    if (answers_.empty()) return {.status = 204};
    HttpOutcome next = answers_.front();
    answers_.pop_front();
    return next;
  }
  // Steps as the thread would, with time that passes at once, until nothing is left.
  void run(Sender& sender) {
    for (int i = 0; i < 1000; ++i) {
      const std::int64_t due = sender.step({});
      if (due == Sender::kNothingToSend) return;
      waits_.push_back(due - now_ns_);
      now_ns_ = std::max(now_ns_, due);
    }
    FAIL() << "it never ends";
  }

  TestFolder folder_;
  SharedQueue shared_;
  Options options_;
  std::int64_t now_ns_ = 1000 * kSecond;
  double random_ = 0.999999;
  std::deque<HttpOutcome> answers_;
  std::vector<HttpRequest> requests_;
  std::vector<std::int64_t> waits_;
};

TEST_F(SenderTest, ShowsNoSecretThatAnAnswerQuotes) {
  options_.url = "https://user:password@metrics.example/api/v1/write?key=abcdef";
  options_.token.file = folder_.path() + "/token";
  std::ofstream(options_.token.file) << "bearer-secret";
  answers_ = {{.status = 401, .body = "POST /api/v1/write?key=abcdef password bearer-secret"}};
  put(0, 1);
  Sender sender = make();
  run(sender);
  EXPECT_EQ(sender.counts().last_error, "401: POST /api/v1/write?key=*** *** ***");
}

TEST_F(SenderTest, ARequestIsAsTheSpecificationAsks) {
  options_.tenant = "team-a";
  put(0, 2);
  Sender sender = make();
  run(sender);
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].url.reveal(), options_.url);
  EXPECT_EQ(requests_[0].content_type, "application/x-protobuf");
  EXPECT_THAT(requests_[0].headers,
              ::testing::UnorderedElementsAre(
                  "Content-Encoding: snappy", "X-Prometheus-Remote-Write-Version: 0.1.0",
                  ::testing::StartsWith("User-Agent: everywatt/"), "X-Scope-OrgID: team-a"));
  EXPECT_EQ(requests_[0].body, real_body(0, 2).bytes);
  EXPECT_EQ(sender.counts().sent_samples, 2u);
  EXPECT_EQ(sender.counts().last_success_unix, 1'700'000'000);
  EXPECT_EQ(shared_.queue->queued_samples(), 0u);
}

TEST_F(SenderTest, SecretsAreReadForEachRequest) {
  const std::string file = folder_.path() + "/token";
  options_.token.file = file;
  write_bytes(file, "first\n");
  put(0, 1);
  Sender sender = make();
  run(sender);
  write_bytes(file, "second\n");
  put(1, 1);
  run(sender);
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(requests_[0].bearer_token.reveal(), "first");
  EXPECT_EQ(requests_[1].bearer_token.reveal(), "second");
}

TEST_F(SenderTest, WithoutItsSecretNothingIsSentAndNothingIsLost) {
  const std::string file = folder_.path() + "/token";
  options_.token.file = file;
  put(0, 3);
  Sender sender = make();
  EXPECT_EQ(sender.step({}), now_ns_ + 5 * kSecond);
  EXPECT_TRUE(requests_.empty());
  EXPECT_THAT(sender.counts().last_error, ::testing::HasSubstr(file));
  EXPECT_EQ(shared_.queue->queued_samples(), 3u);
  write_bytes(file, "there it is\n");
  now_ns_ += 5 * kSecond;
  run(sender);
  EXPECT_EQ(sender.counts().sent_samples, 3u);
}

TEST_F(SenderTest, WhatCouldNotBeTakenIsSentAgainByteByByte) {
  put(0, 3);
  put(3, 2);
  answers_ = {{.status = 0, .error = "connection refused"},
              {.status = 500},
              {.status = 429},
              {.status = 503},
              {.status = 599},
              {.status = 200}};
  Sender sender = make();
  run(sender);
  ASSERT_EQ(requests_.size(), 7u);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(requests_[static_cast<std::size_t>(i)].body, real_body(0, 3).bytes);
  EXPECT_EQ(requests_[6].body, real_body(3, 2).bytes);
  EXPECT_EQ(sender.counts().retries, 5u);
  EXPECT_EQ(sender.counts().sent_samples, 5u);
  EXPECT_TRUE(sender.counts().failed_samples.empty());
}

TEST_F(SenderTest, WaitsLongerAndLongerUpToFiveSeconds) {
  put(0, 1);
  answers_.assign(12, {.status = 503});
  Sender sender = make();
  run(sender);
  ASSERT_EQ(waits_.size(), 13u);
  const std::int64_t expected_ms[] = {30,   60,   120,  240,  480,  960,
                                      1920, 3840, 5000, 5000, 5000, 5000};
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(static_cast<double>(waits_[i]), static_cast<double>(expected_ms[i] * kMs), kMs);
  }
  // The next one begins anew.
  waits_.clear();
  put(1, 1);
  answers_ = {{.status = 503}};
  random_ = 0;
  run(sender);
  EXPECT_EQ(waits_[0], 15 * kMs);
}

TEST_F(SenderTest, WaitsAsLongAsTheReceiverAsksFor) {
  put(0, 1);
  answers_ = {{.status = 429, .retry_after_s = 17},
              {.status = 503, .retry_after_s = 3},
              {.status = 500, .retry_after_s = 60},
              {.status = 429, .retry_after_s = 999'999}};
  Sender sender = make();
  run(sender);
  EXPECT_EQ(waits_[0], 17 * kSecond);
  EXPECT_EQ(waits_[1], 3 * kSecond);
  EXPECT_LT(waits_[2], kSecond);
  EXPECT_EQ(waits_[3], 3600 * kSecond);
}

TEST_F(SenderTest, NothingIsSentBeforeItsTime) {
  put(0, 1);
  answers_ = {{.status = 429, .retry_after_s = 10}};
  Sender sender = make();
  const std::int64_t due = sender.step({});
  now_ns_ = due - 1;
  EXPECT_EQ(sender.step({}), due);
  EXPECT_EQ(requests_.size(), 1u);
  now_ns_ = due;
  sender.step({});
  EXPECT_EQ(requests_.size(), 2u);
}

TEST_F(SenderTest, WhatIsRefusedForGoodIsGivenUpAndCounted) {
  int first = 0;
  for (const int status : {400, 401, 403, 404, 408, 415, 422, 301}) {
    put(first, 2);
    answers_.push_back({.status = status, .body = "no\nmore"});
    first += 2;
  }
  put(first, 1);
  Sender sender = make();
  run(sender);
  EXPECT_EQ(requests_.size(), 9u);
  const SenderCounts counts = sender.counts();
  EXPECT_EQ(counts.failed_samples.size(), 8u);
  for (const auto& [reason, samples] : counts.failed_samples)
    EXPECT_EQ(samples, 2u) << reason;
  EXPECT_EQ(counts.retries, 0u);
  EXPECT_EQ(counts.sent_samples, 1u);
  EXPECT_EQ(shared_.queue->queued_samples(), 0u);
}

TEST_F(SenderTest, ReasonsBeyondSomeAreCountedTogether) {
  for (int status = 400; status < 440; ++status) {
    // Too large: that one is another matter.
    if (status == 413 || status == 429) continue;
    put(2 * status, 2);
    answers_.push_back({.status = status});
  }
  Sender sender = make();
  run(sender);
  const auto failed = sender.counts().failed_samples;
  EXPECT_EQ(failed.size(), 33u);
  EXPECT_EQ(failed.at("400"), 2u);
  EXPECT_EQ(failed.at("other"), 2u * (38 - 32));
}

TEST_F(SenderTest, ARefusalAfterALostAnswerHasAReasonOfItsOwn) {
  put(0, 2);
  put(2, 3);
  answers_ = {{.status = 0, .error = "reset"}, {.status = 400}, {.status = 429}, {.status = 400}};
  Sender sender = make();
  run(sender);
  EXPECT_EQ(sender.counts().failed_samples,
            (std::map<std::string, std::uint64_t>{{"400", 3}, {"400_repeated", 2}}));
}

TEST_F(SenderTest, ShrinksUntilTheReceiverTakesIt) {
  put(0, 10);
  put(10, 10);
  answers_ = {{.status = 413}, {.status = 413}};
  Sender sender = make();
  run(sender);
  // 10, 5, then by twos.
  ASSERT_EQ(requests_.size(), 2u + 5 + 5);
  EXPECT_EQ(requests_[1].body, exporter::slice_body(real_body(0, 10).bytes, 0, 5)->bytes);
  EXPECT_EQ(requests_[3].body, exporter::slice_body(real_body(0, 10).bytes, 2, 2)->bytes);
  EXPECT_EQ(requests_.back().body, exporter::slice_body(real_body(10, 10).bytes, 8, 2)->bytes);
  EXPECT_EQ(sender.counts().sent_samples, 20u);
  EXPECT_TRUE(sender.counts().failed_samples.empty());
  EXPECT_EQ(sender.samples_at_most(), 2u);
}

TEST_F(SenderTest, ASingleSampleThatIsTooLargeIsGivenUp) {
  put(0, 3);
  answers_.assign(2, {.status = 413});  // 3, 1
  Sender sender = make();
  run(sender);
  EXPECT_EQ(sender.counts().failed_samples, (std::map<std::string, std::uint64_t>{{"413", 1}}));
  EXPECT_EQ(sender.counts().sent_samples, 2u);
}

TEST_F(SenderTest, APartThatWasTakenIsNotSentAgainAfterARestart) {
  put(0, 4);
  answers_ = {{.status = 413}, {.status = 204}, {.status = 500}};
  {
    Sender sender = make();
    for (int i = 0; i < 3; ++i)
      sender.step({});
  }
  shared_.queue.reset();
  shared_.queue = open_queue(folder_.path() + "/q");
  requests_.clear();
  Sender sender = make();
  run(sender);
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].body, exporter::slice_body(real_body(0, 4).bytes, 2, 2)->bytes);
}

TEST_F(SenderTest, WhatWasInterruptedByTheEndIsLeftForTheNextRun) {
  put(0, 4);
  std::stop_source stop;
  stop.request_stop();
  answers_ = {{.status = 0, .error = "stopped"}};
  Sender sender = make();
  EXPECT_EQ(sender.step(stop.get_token()), Sender::kNothingToSend);
  EXPECT_EQ(shared_.queue->queued_samples(), 4u);
  EXPECT_EQ(sender.counts().retries, 0u);
}

TEST_F(SenderTest, WhatCannotBeTakenApartIsGivenUp) {
  const exporter::Body body{.bytes = "no body", .samples = 3000};
  ASSERT_TRUE(shared_.queue->append({&body, 1}, moment_of(1)));
  Sender sender = make();
  run(sender);
  EXPECT_TRUE(requests_.empty());
  EXPECT_EQ(sender.counts().failed_samples,
            (std::map<std::string, std::uint64_t>{{"unreadable", 3000}}));
}

}  // namespace
}  // namespace everywatt::remote_write
