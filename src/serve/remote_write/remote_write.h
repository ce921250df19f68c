// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/exporter/exporter.h"
#include "serve/remote_write/options.h"

namespace everywatt::remote_write {

// What a destination did since the start, for its metrics. Totals are of samples.
struct DestinationStatus {
  std::string name;
  std::uint64_t queued_samples = 0;  // taken, and not settled yet
  std::uint64_t queued_bytes = 0;    // on the disk
  std::uint64_t sent_samples_total = 0;
  // Refused by the receiver for good, by its answer: "400", "413", ... The usual ones are there
  // from the start; what is beyond 32 is "other".
  std::map<std::string, std::uint64_t> failed_samples_total;
  std::uint64_t dropped_samples_total = 0;  // the queue was full, or its file damaged
  std::uint64_t retries_total = 0;          // requests that were sent again
  std::int64_t last_success_unix = 0;       // seconds; 0: none yet
  std::string last_error;                   // of the last attempt; empty: it succeeded

  bool operator==(const DestinationStatus&) const = default;
};

// What all destinations share.
struct Surroundings {
  std::string recorder_path;
  std::string queue_folder;    // made where it is missing (0700); each destination has one in it
  exporter::Options exporter;  // as /metrics has them: the series are the same
};

// Sends what the recorder holds to receivers of Prometheus' remote write 1.0. Takes the samples
// at each destination's step, lays them into its queue on the disk, and sends from there: what a
// receiver did not take yet outlives restarts of both sides, as far as the queue has room. After a
// restart it goes on where it stopped, as far as the recorder reaches back.
class RemoteWrite {
 public:
  // Takes up the queues that an earlier run left. kUnavailable: another process has one of them.
  // Secrets are read when they are needed: one that cannot be read holds up its destination alone
  // and is said in the log. A recorder that is not there yet is waited for.
  static base::Result<std::unique_ptr<RemoteWrite>> open(std::vector<Options> destinations,
                                                         Surroundings surroundings);
  ~RemoteWrite();

  // Takes and sends until `stop` asks for an end, and then returns within about a second; what is
  // queued stays for the next run. Each destination sends on a thread of its own, which lives as
  // long as this call. Call it once.
  void run(const std::stop_token& stop);

  // Any thread, at any time; in the order of the options.
  std::vector<DestinationStatus> status() const;

 private:
  struct State;
  explicit RemoteWrite(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace everywatt::remote_write
