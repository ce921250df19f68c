// SPDX-License-Identifier: Apache-2.0
#include "app/courier.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "app/child.h"
#include "app/courier_desk.h"
#include "app/part_work.h"
#include "app/rights.h"
#include "app/rights_filter.h"
#include "app/run_folder.h"
#include "app/served_exporter.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "serve/notify/notifier.h"
#include "serve/remote_write/remote_write.h"

namespace everywatt::app {
namespace {

constexpr int kFolderFd = kFirstChildFd + 1;
constexpr int kDoorFd = kFirstChildFd + 2;
constexpr int kSpoolFd = kFirstChildFd + 3;
// How long until what could not be opened is tried again.
constexpr std::int64_t kRetryNs = 10'000'000'000;

// What sends, on a thread of its own; the one does not wait for the other.
template <typename Room>
class Sender {
 public:
  using Open = std::function<base::Result<std::unique_ptr<Room>>()>;
  explicit Sender(Open open) : open_(std::move(open)) {}

  Room* room() { return room_.get(); }

  // Nothing to do when it is open, or when it is too early for another try.
  void try_open() {
    const std::int64_t now_ns = base::boottime_ns();
    if (room_ || !open_ || now_ns < try_at_ns_) return;
    try_at_ns_ = now_ns + kRetryNs;
    auto opened = open_();
    if (!opened) {
      const base::Error& error = opened.error();
      if (error.message != told_) {
        base::log(base::LogLevel::kError,
                  fmt::format("{}{}{}", error.message, error.hint.empty() ? "" : "; ", error.hint));
      }
      told_ = error.message;
      return;
    }
    room_ = *std::move(opened);
    thread_ = std::jthread([this](const std::stop_token& stop) { room_->run(stop); });
  }
  void ask_to_end() { thread_.request_stop(); }

 private:
  Open open_;  // empty: there is nothing of its kind to send
  std::unique_ptr<Room> room_;
  std::string told_;
  std::int64_t try_at_ns_ = 0;
  std::jthread thread_;
};

// Through the descriptors: the folders' parents may be closed to our user.
std::string path_of(int descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor);
}

Sender<notify::Notifier>::Open notifier_of(const Config& config) {
  if (config.channels.empty()) return {};
  return
      [&config] { return notify::Notifier::open(config.channels, path_of(kSpoolFd) + "/notify"); };
}

Sender<remote_write::RemoteWrite>::Open remote_write_of(const Config& config,
                                                        exporter::Options exporter) {
  if (config.remote_writes.empty()) return {};
  return [&config, exporter = std::move(exporter)] {
    return remote_write::RemoteWrite::open(
        config.remote_writes,
        {.recorder_path = fmt::format("{}/{}", path_of(kFolderFd), kRecorderName),
         .queue_folder = path_of(kSpoolFd) + "/remote_write",
         .exporter = exporter});
  };
}

courier_link::ChannelStatus told(const notify::ChannelStatus& channel) {
  return {.name = channel.name,
          .type = channel.type,
          .queued = channel.queued,
          .sent_total = channel.sent_total,
          .failed_total = channel.failed_total,
          .dropped_total = channel.dropped_total,
          .retried_total = channel.retried_total,
          .digests_total = channel.digests_total,
          .last_success_unix = channel.last_success_unix};
}

courier_link::DestinationStatus told(const remote_write::DestinationStatus& destination) {
  return {.name = destination.name,
          .queued_samples = destination.queued_samples,
          .queued_bytes = destination.queued_bytes,
          .sent_samples_total = destination.sent_samples_total,
          .failed_samples_total = destination.failed_samples_total,
          .dropped_samples_total = destination.dropped_samples_total,
          .retries_total = destination.retries_total,
          .last_success_unix = destination.last_success_unix};
}

std::uint64_t resident_bytes() {
  const auto statm = base::read_file("/proc/self/statm");
  if (!statm) return 0;
  const auto words = base::split_words(*statm);
  const auto pages = words.size() < 2 ? std::nullopt : base::parse_u64(words[1]);
  return pages.value_or(0) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// All that is configured, also while it could not be opened.
courier_link::Status initial_status(const Config& config) {
  courier_link::Status status;
  for (const notify::ChannelOptions& channel : config.channels) {
    status.channels.push_back(
        {.name = channel.name, .type = std::string(notify::type_name(channel.type))});
  }
  for (const remote_write::Options& destination : config.remote_writes) {
    status.remote_write.push_back({.name = destination.name});
  }
  return status;
}

class Courier {
 public:
  Courier(const Config& config, exporter::Options exporter)
      : config_(config),
        notifier_(notifier_of(config)),
        remote_write_(remote_write_of(config, std::move(exporter))) {}

  void run(const std::stop_token& stop) {
    CourierDesk desk(
        {.door = base::UniqueFd(kDoorFd),
         .channels = config_.channels,
         .accept = [this](std::string_view channel,
                          std::string_view payload) { return accept(channel, payload); },
         .status = [this] { return status(); },
         .tick =
             [this] {
               notifier_.try_open();
               remote_write_.try_open();
             }});
    desk.run(stop);
    notifier_.ask_to_end();
    remote_write_.ask_to_end();
  }

 private:
  base::Status accept(std::string_view channel, std::string_view payload) {
    if (notify::Notifier* notifier = notifier_.room()) return notifier->accept(channel, payload);
    return base::fail(base::Code::kUnavailable, "there is no place for notifications");
  }

  courier_link::Status status() {
    courier_link::Status status = initial_status(config_);
    if (const notify::Notifier* notifier = notifier_.room()) {
      status.channels.clear();
      for (const notify::ChannelStatus& channel : notifier->status())
        status.channels.push_back(told(channel));
    }
    if (const remote_write::RemoteWrite* writes = remote_write_.room()) {
      status.remote_write.clear();
      for (const remote_write::DestinationStatus& destination : writes->status())
        status.remote_write.push_back(told(destination));
    }
    status.cpu_ns = static_cast<std::uint64_t>(base::process_cpu_ns());
    status.resident_bytes = resident_bytes();
    return status;
  }

  const Config& config_;
  Sender<notify::Notifier> notifier_;
  Sender<remote_write::RemoteWrite> remote_write_;
};

}  // namespace

web::ReceiverOptions receiver_options(const Config& config, base::UniqueFd door) {
  return {.door = std::move(door), .status = initial_status(config)};
}

base::Result<ExitCode> run_courier(const Config& config, const PartWords& words) {
  exporter::Options exporter = served_exporter(config);
  if (auto dropped = drop_courier_rights(); !dropped) return std::unexpected(dropped.error());
  // The change of user has made the kernel forget it.
  if (!die_with_parent(words.parent)) return kUnavailable;
  // Before there are threads. A kernel that has no such filters still has a courier without rights.
  if (auto forbidden = forbid_system_calls_of_courier(); !forbidden) {
    base::log(base::LogLevel::kWarning, forbidden.error().message);
  }
  Courier courier(config, std::move(exporter));
  return work_until_stopped(nullptr, [&courier](const std::stop_token& stop) -> base::Status {
    courier.run(stop);
    return {};
  });
}

}  // namespace everywatt::app
