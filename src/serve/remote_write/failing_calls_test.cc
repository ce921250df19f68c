// SPDX-License-Identifier: Apache-2.0
#include "base/failing_calls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "serve/remote_write/queue_fixture.h"

namespace everywatt::remote_write {
namespace {

using base::FailingCall;
using base::SystemCall;

constexpr int kMoments = 6;
// Two files of samples come of it, with one dropped.
constexpr std::size_t kSamples = 2;
constexpr std::size_t kBodyBytes = 40'000;
constexpr std::uint64_t kLimitBytes = 200'000;

struct Outcome {
  std::set<int> appended;  // moments that the queue took
  std::vector<int> sent;   // bodies as they came out, in order
  std::uint64_t dropped = 0;
  std::uint64_t damaged = 0;
};

int number_of(const std::string& body) {
  return std::stoi(body.substr(5));
}

// All that a queue does: what was refused is tried again, as the next step of a destination would.
void fill(Queue& queue, Outcome& outcome) {
  for (int i = 0; i < kMoments; ++i) {
    for (int tries = 0; tries < 2 && !outcome.appended.contains(i); ++tries) {
      if (append_one(queue, i, kSamples, kBodyBytes)) outcome.appended.insert(i);
    }
    (void)queue.sync();
  }
}

void empty(Queue& queue, Outcome& outcome) {
  for (int errors = 0; errors < 2;) {
    const auto item = queue.next();
    if (!item) {
      ++errors;
      continue;
    }
    if (!*item) break;
    outcome.sent.push_back(number_of((*item)->body));
    queue.settle(**item, (*item)->from, (*item)->record.end());
  }
}

void run(const std::string& folder, Outcome& outcome) {
  const QueueOptions options{.folder = folder, .limit_bytes = kLimitBytes, .this_boot = kBoot};
  auto queue = Queue::open(options);
  if (!queue) queue = Queue::open(options);
  ASSERT_TRUE(queue);
  fill(**queue, outcome);
  const std::uint64_t dropped_before = (*queue)->dropped_samples();
  const std::uint64_t damaged_before = (*queue)->damaged_samples();
  queue->reset();
  queue = Queue::open(options);
  if (!queue) queue = Queue::open(options);
  ASSERT_TRUE(queue);
  empty(**queue, outcome);
  outcome.dropped = dropped_before + (*queue)->dropped_samples();
  outcome.damaged = damaged_before + (*queue)->damaged_samples();
}

// What a queue took comes out once and in order, or is counted.
void check(const Outcome& outcome, const std::string& where) {
  EXPECT_EQ(outcome.appended.size(), static_cast<std::size_t>(kMoments)) << where;
  EXPECT_TRUE(std::ranges::is_sorted(outcome.sent)) << where;
  const std::set<int> sent(outcome.sent.begin(), outcome.sent.end());
  EXPECT_EQ(sent.size(), outcome.sent.size()) << where << ": something came twice";
  EXPECT_EQ(outcome.damaged, 0u) << where;
  EXPECT_EQ(kSamples * sent.size() + outcome.dropped, kSamples * kMoments) << where;
}

TEST(QueueFailingCalls, AnyCallMayFailOnceAndNoSampleIsLostUncounted) {
  {
    const TestFolder folder;
    Outcome outcome;
    run(folder.path() + "/q", outcome);
    check(outcome, "none fails");
    EXPECT_GT(outcome.dropped, 0u);
  }
  std::set<SystemCall> failed;
  for (std::size_t number = 0; number < std::size(base::kSystemCallNames); ++number) {
    const auto call = static_cast<SystemCall>(number);
    for (const int error : base::plausible_errors(call)) {
      for (unsigned nth = 1;; ++nth) {
        const TestFolder folder;
        Outcome outcome;
        FailingCall failing(call, nth, error);
        run(folder.path() + "/q", outcome);
        if (testing::Test::HasFatalFailure() || !failing.was_hit()) break;
        failed.insert(call);
        check(outcome, fmt::format("call {} of {} with {} on {}", nth, base::system_call_name(call),
                                   error, failing.path()));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  for (const SystemCall call : {SystemCall::kOpen, SystemCall::kRead, SystemCall::kPread,
                                SystemCall::kPwrite, SystemCall::kFlock, SystemCall::kFdatasync}) {
    EXPECT_TRUE(failed.contains(call)) << base::system_call_name(call);
  }
}

}  // namespace
}  // namespace everywatt::remote_write
