// SPDX-License-Identifier: Apache-2.0
#include "serve/web/receiver_metrics.h"

#include <array>
#include <map>
#include <string>

namespace everywatt::web {
namespace {

using courier_link::ChannelStatus;
using courier_link::DestinationStatus;
using exporter::Exposition;

constexpr std::string_view kCounter = "counter";
constexpr std::string_view kGauge = "gauge";

template <typename Status>
struct Family {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  std::uint64_t Status::* value;
};

constexpr auto kOfChannels = std::to_array<Family<ChannelStatus>>({
    {"everywatt_notify_queued", kGauge, "Notifications that wait on the disk.",
     &ChannelStatus::queued},
    {"everywatt_notify_sent_total", kCounter, "Messages that the channel took.",
     &ChannelStatus::sent_total},
    {"everywatt_notify_dropped_total", kCounter,
     "Notifications for which there was no room on the disk.", &ChannelStatus::dropped_total},
    {"everywatt_notify_retried_total", kCounter, "Messages that were sent again.",
     &ChannelStatus::retried_total},
    {"everywatt_notify_digests_total", kCounter,
     "Messages that sum up what was beyond the channel's budget.", &ChannelStatus::digests_total},
});

constexpr auto kOfDestinations = std::to_array<Family<DestinationStatus>>({
    {"everywatt_remote_write_queued_samples", kGauge, "Samples that the receiver did not take yet.",
     &DestinationStatus::queued_samples},
    {"everywatt_remote_write_queued_bytes", kGauge, "What they take on the disk.",
     &DestinationStatus::queued_bytes},
    {"everywatt_remote_write_sent_samples_total", kCounter, "Samples that the receiver took.",
     &DestinationStatus::sent_samples_total},
    {"everywatt_remote_write_dropped_samples_total", kCounter,
     "Samples for which the queue had no room.", &DestinationStatus::dropped_samples_total},
    {"everywatt_remote_write_retries_total", kCounter, "Requests that were sent again.",
     &DestinationStatus::retries_total},
});

Exposition& sample_of(const ChannelStatus& channel, Exposition& out) {
  return out.sample().label("channel", channel.name).label("type", channel.type);
}
Exposition& sample_of(const DestinationStatus& destination, Exposition& out) {
  return out.sample().label("destination", destination.name);
}

// There is no such time before the first success.
template <typename Status>
void append_last_success(std::string_view name, const std::vector<Status>& all, Exposition& out) {
  out.begin_family(name, kGauge, "When something was last taken, in seconds since 1970.");
  for (const Status& status : all) {
    if (status.last_success_unix <= 0) continue;
    sample_of(status, out).value(static_cast<std::uint64_t>(status.last_success_unix));
  }
}

template <typename Status, std::size_t kCount>
void append(const std::array<Family<Status>, kCount>& families, const std::vector<Status>& all,
            Exposition& out) {
  for (const Family<Status>& family : families) {
    out.begin_family(family.name, family.type, family.help);
    for (const Status& status : all)
      sample_of(status, out).value(status.*family.value);
  }
}

template <typename Status>
struct FamilyByReason {
  std::string_view name;
  std::string_view help;
  std::map<std::string, std::uint64_t> Status::* counts;
};

constexpr FamilyByReason<ChannelStatus> kFailedNotifications = {
    "everywatt_notify_failed_total", "Notifications that were given up, by reason.",
    &ChannelStatus::failed_total};
constexpr FamilyByReason<DestinationStatus> kFailedSamples = {
    "everywatt_remote_write_failed_samples_total",
    "Samples that the receiver refused for good, by reason.",
    &DestinationStatus::failed_samples_total};

template <typename Status>
void append(const FamilyByReason<Status>& family, const std::vector<Status>& all, Exposition& out) {
  out.begin_family(family.name, kCounter, family.help);
  for (const Status& status : all) {
    for (const auto& [reason, count] : status.*family.counts)
      sample_of(status, out).label("reason", reason).value(count);
  }
}

}  // namespace

void append_courier(const courier_link::Status& status, CourierState state, Exposition& out) {
  out.begin_family("everywatt_courier_connected", kGauge,
                   "1: the process that sends is there and talks to the server.");
  out.sample().value(std::uint64_t{state == CourierState::kThere ? 1U : 0U});
  if (state == CourierState::kThere) {
    constexpr double kNsPerSecond = 1e9;
    out.begin_family("everywatt_courier_cpu_seconds_total", kCounter,
                     "CPU time of the process that sends.");
    out.sample().value(static_cast<double>(status.cpu_ns) / kNsPerSecond);
    out.begin_family("everywatt_courier_resident_bytes", kGauge,
                     "Memory of the process that sends.");
    out.sample().value(status.resident_bytes);
  }
  append(kOfChannels, status.channels, out);
  append(kFailedNotifications, status.channels, out);
  append_last_success("everywatt_notify_last_success_timestamp_seconds", status.channels, out);
  append(kOfDestinations, status.remote_write, out);
  append(kFailedSamples, status.remote_write, out);
  append_last_success("everywatt_remote_write_last_success_timestamp_seconds", status.remote_write,
                      out);
}

}  // namespace everywatt::web
