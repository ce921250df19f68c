// SPDX-License-Identifier: Apache-2.0
#include "app/replay.h"

#include <fmt/format.h>
#include <csignal>

#include <thread>

#include "app/counters_choice.h"
#include "app/listener.h"
#include "app/served_access.h"
#include "app/stop_signals.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "read/view/view.h"
#include "serve/web/server.h"

namespace everywatt::app {
namespace {

// A path may hold anything; a line of text that tells it must stay one.
constexpr std::size_t kShownPathBytes = 512;

base::Result<base::Clock> make_clock(const std::string& path) {
  const auto view = view::View::open({.recorder_path = path});
  if (!view) return std::unexpected(view.error());
  const std::int64_t first_ns = (*view)->first_row_ns();
  const std::int64_t last_ns = (*view)->last_row_ns();
  if (first_ns == 0) {
    return base::fail(base::Code::kInvalidArgument, fmt::format("{} holds no rows", path));
  }
  return base::Clock([first_ns, last_ns, began_ns = base::boottime_ns()] {
    return replayed_ns(first_ns, last_ns, base::boottime_ns() - began_ns);
  });
}

}  // namespace

std::int64_t replayed_ns(std::int64_t first_ns, std::int64_t last_ns, std::int64_t elapsed_ns) {
  const std::int64_t length_ns = last_ns - first_ns;
  return length_ns <= 0 ? last_ns : first_ns + elapsed_ns % length_ns;
}

base::Result<ExitCode> run_replay(Replay replay, const Config& config) {
  const std::string& path = replay.path;
  auto clock = make_clock(path);
  if (!clock) {
    if (clock.error().code == base::Code::kNotFound) {
      clock.error().code = base::Code::kInvalidArgument;
    }
    return std::unexpected(clock.error());
  }
  auto listener = Listener::open(config.listen_address, config.listen_port);
  if (!listener) return std::unexpected(listener.error());
  const std::string url = make_url(config.listen_address, listener->port, replay.scheme);
  auto authentication = open_authentication(config);
  if (!authentication) return std::unexpected(authentication.error());
  web::Options options;
  options.authentication = *std::move(authentication);
  options.address = config.listen_address;
  options.port = config.listen_port;
  options.listener = std::move(listener->socket);
  options.host_names = config.host_names;
  options.recorder_path = path;
  options.clock = *std::move(clock);
  options.metrics = {.names = config.names, .gpus = config.served_gpus};
  options.exporter = exporter_options(config);
  options.exporter.counters = std::move(replay.counters);
  options.note = "replay of " + base::clean_text(path, kShownPathBytes);
  const sigset_t signals = block_stop_signals();
  auto server = web::Server::open(std::move(options));
  if (!server) return std::unexpected(server.error());
  base::log(base::LogLevel::kNotice,
            fmt::format("serving {} - replay of {}; commands read it with --recorder {}", url, path,
                        path));
  base::Status outcome;
  {
    // A server that ends by itself ends the wait, too.
    std::jthread worker([&](const std::stop_token& stop) {
      outcome = (*server)->run(stop);
      if (!stop.stop_requested()) ::kill(::getpid(), SIGTERM);
    });
    const std::jthread passwords(
        [&](const std::stop_token& stop) { (*server)->check_passwords(stop); });
    int number = 0;
    ::sigwait(&signals, &number);
  }
  if (!outcome) return std::unexpected(outcome.error());
  return kFine;
}

}  // namespace everywatt::app
