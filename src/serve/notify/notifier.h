// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/notify/channel_options.h"

namespace everywatt::notify {

// What a channel did since the start, for its metrics. Every reason is there from the start, with
// 0.
struct ChannelStatus {
  std::string name;
  std::string type;
  std::uint64_t queued = 0;      // notifications on the spool now
  std::uint64_t sent_total = 0;  // messages that the channel took: a notification may need several
  std::map<std::string, std::uint64_t> failed_total;  // notifications, by reason
  std::uint64_t dropped_total = 0;                    // notifications for which the spool was full
  std::uint64_t retried_total = 0;
  std::uint64_t digests_total = 0;
  std::int64_t last_success_unix = 0;  // seconds; 0: none yet

  bool operator==(const ChannelStatus&) const = default;
};

// Takes notifications, keeps them on the disk until their channel has taken them, and sends them
// within each channel's budget. Channels do not wait for one another.
class Notifier {
 public:
  // Takes up what an earlier run left in `spool_folder` (made where it is missing, 0700). Secrets
  // and templates are read when they are needed: one that cannot be read holds up its channel alone
  // and is said in the log.
  static base::Result<std::unique_ptr<Notifier>> open(std::vector<ChannelOptions> channels,
                                                      std::string spool_folder);
  ~Notifier();

  // `payload` is what Alertmanager's webhook sends. When this returns, the notification is on the
  // disk. Any thread. kNotFound: no such channel (404); kInvalidArgument: the payload is not one
  // (400); everything else: it could not be stored, try again (503).
  base::Status accept(std::string_view channel, std::string_view payload);

  // Sends until `stop` asks for an end, and then returns within about a second. Channels have a
  // thread each, which live as long as this call. Call it once.
  void run(std::stop_token stop);

  // Any thread, at any time; in the order of the options.
  std::vector<ChannelStatus> status() const;

 private:
  struct State;
  explicit Notifier(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// Sends a made-up alert to the channel at once, past spool and budget. What the channel answered in
// one line; the Error says what it refused and why, with what to do as hint.
base::Result<std::string> send_sample(const ChannelOptions& channel);

}  // namespace everywatt::notify
