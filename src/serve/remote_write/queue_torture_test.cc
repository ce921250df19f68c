// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "serve/remote_write/queue_fixture.h"

namespace everywatt::remote_write {
namespace {

constexpr std::size_t kSamples = 3;

// What the process that is going to be killed says it has done.
struct Done {
  std::uint64_t appended = 0;  // samples
  std::uint64_t settled = 0;
};

// Fills and empties the queue until it is killed, and tells of each step after it.
[[noreturn]] void work(const std::string& folder, int tell) {
  auto queue = open_queue(folder, kBoot, 64u << 20);
  while (true) {
    const int number = static_cast<int>(queue->last_moment().boot_ns / 1'000'000'000) + 1;
    const std::vector<exporter::Body> bodies{body_of(number, kSamples, 9000),
                                             body_of(number, kSamples, 5000)};
    if (!queue->append(bodies, moment_of(number))) ::_exit(1);
    Done done{.appended = queue->queued_samples()};
    if (number % 3 == 0) {
      const auto item = queue->next();
      if (!item || !*item) ::_exit(1);
      queue->settle(**item, (*item)->from, (*item)->record.end());
      done = {.appended = queue->queued_samples(), .settled = (*item)->record.end()};
    }
    if (::write(tell, &done, sizeof(done)) != sizeof(done)) ::_exit(1);
  }
}

Done read_last(int told) {
  Done last;
  Done next;
  std::uint64_t settled = 0;
  while (::read(told, &next, sizeof(next)) == sizeof(next)) {
    last = next;
    settled = std::max(settled, next.settled);
  }
  last.settled = settled;
  return last;
}

// Kills a process at work after `wait` and returns what it had said until then.
Done kill_at_work(const std::string& folder, std::chrono::microseconds wait) {
  int pipe_ends[2];
  CHECK(::pipe(pipe_ends) == 0);
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) {
    ::close(pipe_ends[0]);
    work(folder, pipe_ends[1]);
  }
  ::close(pipe_ends[1]);
  std::thread killer([&] {
    std::this_thread::sleep_for(wait);
    ::kill(child, SIGKILL);
  });
  const Done done = read_last(pipe_ends[0]);
  killer.join();
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  ::close(pipe_ends[0]);
  return done;
}

TEST(QueueTorture, KilledAtAnyInstantItHasEverySampleThatItTookAndNoneTwice) {
  const TestFolder folder;
  const std::string path = folder.path() + "/q";
  std::minstd_rand random(7);
  for (int round = 0; round < 150; ++round) {
    const Done done = kill_at_work(path, std::chrono::microseconds(500 + random() % 6000));
    const auto queue = open_queue(path, kBoot, 64u << 20);
    EXPECT_GE(queue->queued_samples() + 2 * kSamples, done.appended) << round;
    // All that is there, one behind the other, each with what was written into it.
    std::uint64_t at = 0;
    while (true) {
      const auto item = queue->next();
      ASSERT_TRUE(item);
      if (!*item) break;
      if (at == 0) at = (*item)->from;
      ASSERT_EQ((*item)->from, at) << round;
      EXPECT_GE(at, done.settled) << round;
      const int number = static_cast<int>((*item)->record.moment.boot_ns / 1'000'000'000);
      EXPECT_TRUE((*item)->body.starts_with(fmt::format("body {} ", number)));
      EXPECT_EQ((*item)->record.first / (2 * kSamples), static_cast<std::uint64_t>(number - 1));
      at = (*item)->record.end();
      queue->settle(**item, (*item)->from, at);
    }
    EXPECT_EQ(queue->damaged_samples(), 0u) << round;
    EXPECT_EQ(queue->dropped_samples(), 0u) << round;
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace everywatt::remote_write
