// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

// What the server, which hears the network, and the courier, which speaks to it, tell each other,
// one message a frame.
namespace everywatt::courier_link {

// Server to courier: what somebody posted for a channel. A line of JSON, {"id":1,"channel":"ops"},
// and behind it the body as it came: the server does not read it.
struct Delivery {
  std::uint64_t id = 0;  // repeated in the reply
  std::string channel = {};
  std::string body = {};

  bool operator==(const Delivery&) const = default;
};

// Courier to server, in JSON, each under a key of its own:
// {"reply":{"id":1,"code":202,"message":""}}: what became of a delivery, in HTTP's numbers. 202: it
// is on the disk.
struct Reply {
  std::uint64_t id = 0;
  unsigned code = 0;
  std::string message = {};

  bool operator==(const Reply&) const = default;
};

// {"channels":[{"name":"ops","token_sha256":"..."}]}: who may post, so that the token itself stays
// with the courier. All channels, each time.
struct ChannelKey {
  std::string name = {};
  std::string token_sha256 = {};  // 64 hex digits; "": the channel has no token

  bool operator==(const ChannelKey&) const = default;
};
using ChannelKeys = std::vector<ChannelKey>;

// {"status":{...}}: what is to be seen in /metrics. Totals count from the courier's start.
struct ChannelStatus {
  std::string name = {};
  std::string type = {};
  std::uint64_t queued = 0;
  std::uint64_t sent_total = 0;
  std::map<std::string, std::uint64_t> failed_total = {};  // by reason
  std::uint64_t dropped_total = 0;
  std::uint64_t retried_total = 0;
  std::uint64_t digests_total = 0;
  std::int64_t last_success_unix = 0;  // 0: none yet

  bool operator==(const ChannelStatus&) const = default;
};
struct DestinationStatus {
  std::string name = {};
  std::uint64_t queued_samples = 0;
  std::uint64_t queued_bytes = 0;
  std::uint64_t sent_samples_total = 0;
  std::map<std::string, std::uint64_t> failed_samples_total = {};  // by reason
  std::uint64_t dropped_samples_total = 0;
  std::uint64_t retries_total = 0;
  std::int64_t last_success_unix = 0;

  bool operator==(const DestinationStatus&) const = default;
};
struct Status {
  std::vector<ChannelStatus> channels = {};
  std::vector<DestinationStatus> remote_write = {};
  std::uint64_t cpu_ns = 0;  // what the courier itself costs
  std::uint64_t resident_bytes = 0;

  bool operator==(const Status&) const = default;
};

using FromCourier = std::variant<Reply, ChannelKeys, Status>;

std::string format_delivery(const Delivery& delivery);
std::string format_from_courier(const FromCourier& message);

// kCorrupt for what is no such message, and for one with more channels or reasons than there can
// be: what is behind a frame is not trusted on either side.
base::Result<Delivery> parse_delivery(std::string_view frame);
base::Result<FromCourier> parse_from_courier(std::string_view frame);

}  // namespace everywatt::courier_link
