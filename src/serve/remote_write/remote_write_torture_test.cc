// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/remote_write.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/clock.h"
#include "read/view/view_fixture.h"
#include "serve/remote_write/queue_fixture.h"

namespace everywatt::remote_write {
namespace {

// Nobody listens there.
constexpr const char* kNowhere = "http://127.0.0.1:1/api/v1/write";
constexpr auto kPatience = std::chrono::seconds(20);

Options make_options(std::string name) {
  return {.name = std::move(name), .url = kNowhere, .step_ns = 1'000'000'000};
}

class RemoteWriteTest : public ::testing::Test {
 protected:
  RemoteWriteTest() : machine_({.path = folder_.path() + "/recorder"}) {
    const std::int64_t now_ns = base::boottime_ns();
    machine_.file().header().wall_offset_ns.store(
        static_cast<std::uint64_t>(base::walltime_ns() - now_ns));
    machine_.name_gpu(0, now_ns - view::kSecond, "GPU-1", "00000000:06:00.0");
  }

  base::Result<std::unique_ptr<RemoteWrite>> open(std::vector<Options> options) {
    return RemoteWrite::open(std::move(options), {.recorder_path = folder_.path() + "/recorder",
                                                  .queue_folder = folder_.path() + "/spool/queue",
                                                  .exporter = {.hostname = "node7"}});
  }
  // Asks for the status all the while, as the courier does.
  static bool wait_for(const RemoteWrite& remote_write, auto condition) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      if (condition(remote_write.status())) return true;
      std::this_thread::yield();
    }
    return false;
  }

  TestFolder folder_;
  view::Machine machine_;
};

TEST_F(RemoteWriteTest, TakesAndTriesWhileItIsAskedAndEndsSoon) {
  std::uint64_t queued = 0;
  {
    auto remote_write = open({make_options("one"), make_options("two")});
    ASSERT_TRUE(remote_write) << remote_write.error().message;
    std::stop_source stop;
    std::jthread thread([&] { (*remote_write)->run(stop.get_token()); });
    EXPECT_TRUE(wait_for(**remote_write, [](const auto& all) {
      return all[0].queued_samples > 0 && all[0].retries_total > 1 && all[1].retries_total > 1;
    }));
    const auto begin = std::chrono::steady_clock::now();
    stop.request_stop();
    thread.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    const auto status = (*remote_write)->status();
    EXPECT_EQ(status[0].name, "one");
    EXPECT_EQ(status[1].name, "two");
    EXPECT_EQ(status[0].sent_samples_total, 0u);
    EXPECT_FALSE(status[0].last_error.empty());
    queued = status[0].queued_samples;
  }
  const auto again = open({make_options("one")});
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->status()[0].queued_samples, queued);
}

TEST_F(RemoteWriteTest, AQueueIsOfOneProcessAtATime) {
  const auto first = open({make_options("one")});
  ASSERT_TRUE(first);
  const auto second = open({make_options("one")});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kUnavailable);
}

TEST_F(RemoteWriteTest, AMistakeInTheOptionsIsNamed) {
  Options options = make_options("one");
  options.step_ns = 1;
  const auto refused = open({options});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(refused.error().message, "remote_write.one: step_seconds: it is from 0.1 to 3600");
}

}  // namespace
}  // namespace everywatt::remote_write
