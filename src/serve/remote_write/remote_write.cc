// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/remote_write.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "serve/remote_write/destination.h"
#include "serve/remote_write/live_recorder.h"

namespace everywatt::remote_write {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// While a destination catches up, others are served in between, and a stop is heard.
constexpr std::int64_t kShortestWaitNs = 1'000'000;

std::uint64_t this_boot() {
  const auto boot_id = base::read_file("/proc/sys/kernel/random/boot_id", 64);
  return boot_id ? boot_number(base::trim(*boot_id)) : 0;
}

base::Status make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return base::fail_errno("make", path);
  return {};
}

}  // namespace

struct RemoteWrite::State {
  explicit State(std::string recorder_path) : recorder(std::move(recorder_path)) {}

  // When to be called next.
  std::int64_t take();
  void sync();
  void wait_until(std::int64_t due_ns, const std::stop_token& stop);

  LiveRecorder recorder;
  std::vector<std::unique_ptr<Destination>> destinations;
  std::int64_t synced_ns = 0;
  std::mutex mutex;                     // for waiting alone
  std::condition_variable_any nothing;  // that anybody notifies: `stop` ends the wait
};

std::int64_t RemoteWrite::State::take() {
  const std::int64_t now_ns = base::boottime_ns();
  if (recorder.is_outdated()) {
    // What the one that goes holds still is taken before.
    if (view::View* view = recorder.get()) {
      const std::int64_t until_ns = std::min(now_ns, view->last_row_ns() + Taker::kSettleNs);
      for (const auto& destination : destinations)
        destination->take(*view, until_ns);
    }
    recorder.open();
  }
  std::int64_t next_ns = now_ns + kSecondNs;
  view::View* view = recorder.get();
  if (view == nullptr) return next_ns;
  for (const auto& destination : destinations)
    next_ns = std::min(next_ns, destination->take(*view, now_ns));
  return next_ns;
}

void RemoteWrite::State::sync() {
  const std::int64_t now_ns = base::boottime_ns();
  if (now_ns - synced_ns < kSecondNs / 2) return;
  synced_ns = now_ns;
  for (const auto& destination : destinations)
    destination->sync();
}

void RemoteWrite::State::wait_until(std::int64_t due_ns, const std::stop_token& stop) {
  const std::int64_t wait_ns = std::max(due_ns - base::boottime_ns(), kShortestWaitNs);
  std::unique_lock lock(mutex);
  nothing.wait_for(lock, stop, std::chrono::nanoseconds(wait_ns), [] { return false; });
}

RemoteWrite::RemoteWrite(std::unique_ptr<State> state) : state_(std::move(state)) {}
RemoteWrite::~RemoteWrite() = default;

base::Result<std::unique_ptr<RemoteWrite>> RemoteWrite::open(std::vector<Options> destinations,
                                                             Surroundings surroundings) {
  if (auto made = make_folder(surroundings.queue_folder); !made) {
    return std::unexpected(made.error());
  }
  auto state = std::make_unique<State>(std::move(surroundings.recorder_path));
  for (Options& options : destinations) {
    if (auto checked = check_options(options); !checked) {
      base::Error error = std::move(checked.error());
      error.message = fmt::format("remote_write.{}: {}", options.name, error.message);
      return std::unexpected(std::move(error));
    }
    const std::string folder = fmt::format("{}/{}", surroundings.queue_folder, options.name);
    auto destination =
        Destination::open(std::move(options), folder, surroundings.exporter, this_boot());
    if (!destination) return std::unexpected(std::move(destination.error()));
    state->destinations.push_back(*std::move(destination));
  }
  return std::unique_ptr<RemoteWrite>(new RemoteWrite(std::move(state)));
}

void RemoteWrite::run(const std::stop_token& stop) {
  std::vector<std::jthread> senders;
  for (const auto& destination : state_->destinations) {
    senders.emplace_back([&destination, stop] { destination->send(stop); });
  }
  while (!stop.stop_requested()) {
    const std::int64_t next_ns = state_->take();
    state_->sync();
    state_->wait_until(next_ns, stop);
  }
  senders.clear();
  state_->synced_ns = 0;
  state_->sync();
}

std::vector<DestinationStatus> RemoteWrite::status() const {
  std::vector<DestinationStatus> all;
  for (const auto& destination : state_->destinations)
    all.push_back(destination->status());
  return all;
}

}  // namespace everywatt::remote_write
