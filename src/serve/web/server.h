// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/exporter/exporter.h"
#include "serve/web/authentication.h"
#include "serve/web/connections.h"
#include "serve/web/journal.h"
#include "serve/web/metrics_query.h"
#include "serve/web/receiver.h"

namespace everywatt::web {

struct Options {
  std::string address = "127.0.0.1";  // an IP address; "::" and "0.0.0.0" listen everywhere
  std::uint16_t port = 9400;          // 0: any free one, see Server::port()
  // Taken instead of address and port when open: a listening socket that somebody with more rights
  // has made.
  base::UniqueFd listener = {};
  // Names that a request's Host may have beside addresses and "localhost".
  std::vector<std::string> host_names = {};

  Limits limits = {};
  // Null: anybody may ask, over plain HTTP.
  std::unique_ptr<Authentication> authentication = {};

  std::string recorder_path;
  std::string identities_path = {};
  // What `now` means, as in view::Options. Unlike there, empty is base::boottime_ns.
  base::Clock clock = {};

  MetricsDefaults metrics = {};
  exporter::Options exporter = {};
  // Where marks come from and go to; both or none.
  JournalOptions journal = {};
  // For what is sent to other machines; nothing: nothing is.
  std::optional<ReceiverOptions> receiver = {};
  // What every page and answer says it shows when not live: "replay of FILE"; "demo". Empty: live.
  std::string note = {};
};

// The HTTP server: /, /metrics, /healthz, /readyz, /api/v1/gpus, /api/v1/series. Reads the recorder
// file only: no request reaches the driver. Takes marks for the journal where it was given one.
// Starts while the file is not there yet and says 503 until it is; follows a file that is replaced.
// run() belongs to one thread; request_stop ends it within 100 ms.
class Server {
 public:
  // Binds. kUnavailable: the port is in use (the hint says what to do); kInvalidArgument: not an
  // address; kNoPermission.
  static base::Result<std::unique_ptr<Server>> open(Options options);
  ~Server();

  std::uint16_t port() const;
  std::string url() const;  // "http://127.0.0.1:9400"

  // Checks passwords until the token stops it, on a thread of its own. Returns at once where there
  // are none to be checked.
  void check_passwords(const std::stop_token& stop);

  // Serves until the token stops it.
  base::Status run(const std::stop_token& stop);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace everywatt::web
