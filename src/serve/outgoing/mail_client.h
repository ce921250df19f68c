// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/outgoing/secret.h"

namespace everywatt::outgoing {

// For smtp:// alone: smtps:// speaks TLS from its first byte.
enum class Starttls { kRequired, kOff };

struct MailRequest {
  std::string url{};  // smtps://host:465, or smtp://host:587
  Starttls starttls = Starttls::kRequired;
  std::string username{};  // empty: no authentication
  Secret password{};
  std::string from{};             // the envelope's addresses, bare: a@b
  std::vector<std::string> to{};  // at least one
  std::string message{};          // RFC 5322, lines end with CRLF; dots are stuffed on the way
  std::string ca_file{};
  std::int64_t connect_timeout_ms = 5'000;
  std::int64_t timeout_ms = 30'000;
  std::stop_token stop{};
};

struct MailOutcome {
  int code = 0;         // the server's last reply code, 250 where it took the mail; 0: none came
  std::string error{};  // empty where the mail was taken
};

// Sends mails one after another, like HttpClient.
class MailClient {
 public:
  static base::Result<MailClient> open();
  MailClient(MailClient&&) noexcept;
  MailClient& operator=(MailClient&&) noexcept;
  ~MailClient();

  // A server that refuses one of the addresses refuses the mail: nothing is sent to a part of them.
  MailOutcome send(const MailRequest& request);

 private:
  struct State;
  explicit MailClient(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace everywatt::outgoing
