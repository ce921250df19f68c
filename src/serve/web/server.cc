// SPDX-License-Identifier: Apache-2.0
#include "serve/web/server.h"

#include <utility>

#include "base/log.h"
#include "serve/web/connections.h"
#include "serve/web/listening_socket.h"
#include "serve/web/router.h"

namespace everywatt::web {

struct Server::State {
  State(RouterOptions options, exporter::Options exporter_options)
      : encoder(std::move(exporter_options)), router(with_encoder(std::move(options))) {}

  RouterOptions with_encoder(RouterOptions options) {
    options.encode = [this](const view::View& view, const exporter::Wish& wish,
                            exporter::Exposition& out) { encoder.encode(view, wish, out); };
    return options;
  }

  base::Status take_marks(JournalOptions options) {
    auto opened = Journal::open(std::move(options));
    if (!opened) return std::unexpected(opened.error());
    journal = *std::move(opened);
    router.add_more_metrics([this](exporter::Exposition& out) { journal->append_counts(out); });
    return connections->watch(journal->socket(), Readiness::kToRead, [this] {
      journal->receive();
      return Watching::kGoOn;
    });
  }

  base::Status take_notifications(ReceiverOptions options) {
    receiver = std::make_unique<Receiver>(
        std::move(options),
        [this](int descriptor, Readiness readiness, std::function<Watching()> act) {
          return connections->watch(descriptor, readiness, std::move(act));
        });
    router.add_more_metrics([this](exporter::Exposition& out) { receiver->append_metrics(out); });
    router.set_receiver([this](std::string_view channel, const Request& request) {
      return receiver->answer(channel, request);
    });
    if (authentication) authentication->leave_to_answer(std::string(kReceiverPath));
    return receiver->start();
  }

  base::Status take_logins() {
    if (authentication == nullptr) return {};
    router.add_more_metrics(
        [this](exporter::Exposition& out) { authentication->append_counts(out); });
    return connections->watch(authentication->passwords().descriptor(), Readiness::kToRead, [this] {
      authentication->passwords().deliver();
      return Watching::kGoOn;
    });
  }

  exporter::Encoder encoder;
  Router router;
  SocketAddress address;
  std::unique_ptr<Journal> journal;  // null: no marks are taken
  std::unique_ptr<Connections> connections;
  // Holds answers that connections wait for: it goes before them.
  std::unique_ptr<Receiver> receiver;  // null: nothing is sent
  // So does this.
  std::unique_ptr<Authentication> authentication;  // null: anybody may ask
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

base::Result<std::unique_ptr<Server>> Server::open(Options options) {
  if (!options.listener.is_open()) {
    auto listener = open_listening_socket(options.address, options.port);
    if (!listener) return std::unexpected(listener.error());
    options.listener = std::move(*listener);
  }
  auto address = address_of(options.listener.get());
  if (!address) return std::unexpected(address.error());
  auto state = std::make_unique<State>(
      RouterOptions{.view = {.recorder_path = std::move(options.recorder_path),
                             .identities_path = std::move(options.identities_path),
                             .clock = std::move(options.clock)},
                    .metrics = std::move(options.metrics),
                    .host_names = std::move(options.host_names),
                    .note = std::move(options.note),
                    .encode = {}},
      std::move(options.exporter));
  state->address = std::move(*address);
  state->authentication = std::move(options.authentication);
  auto connections = Connections::open(
      std::move(options.listener), options.limits,
      [router = &state->router](const Request& request) { return router->answer(request); },
      state->authentication.get());
  if (!connections) return std::unexpected(connections.error());
  state->connections = std::move(*connections);
  if (auto taken = state->take_logins(); !taken) return std::unexpected(taken.error());
  if (options.journal.socket.is_open() && options.journal.file.is_open()) {
    // Without it all else goes on.
    if (auto taken = state->take_marks(std::move(options.journal)); !taken) {
      base::log(base::LogLevel::kWarning, "no marks are taken: " + taken.error().message);
    }
  }
  if (options.receiver) {
    if (auto taken = state->take_notifications(*std::move(options.receiver)); !taken) {
      base::log(base::LogLevel::kWarning, "no notifications are taken: " + taken.error().message);
    }
  }
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

std::uint16_t Server::port() const {
  return state_->address.port;
}

std::string Server::url() const {
  const bool has_tls = state_->authentication && state_->authentication->tls();
  return format_url(state_->address, has_tls ? Scheme::kHttps : Scheme::kHttp);
}

void Server::check_passwords(const std::stop_token& stop) {
  if (state_->authentication) state_->authentication->passwords().run(stop);
}

base::Status Server::run(const std::stop_token& stop) {
  if (state_->authentication) state_->authentication->tell_unreadable();
  state_->connections->run(stop);
  return {};
}

}  // namespace everywatt::web
