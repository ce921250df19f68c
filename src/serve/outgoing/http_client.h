// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "serve/outgoing/secret.h"

namespace everywatt::outgoing {

inline constexpr std::size_t kAnswerLimitBytes = 64u << 10;

enum class TlsCheck { kFull, kNone };

// One POST. Everything but `url` may be left out.
struct HttpRequest {
  Secret url{};  // http:// or https:// only; often the whole secret of a chat robot
  std::string body{};
  std::string content_type = "application/json";
  std::vector<std::string> headers{};  // "Name: value", sent as they are; no line breaks
  std::string username{};              // basic authentication, with `password`
  Secret password{};
  Secret bearer_token{};  // Authorization: Bearer
  std::string ca_file{};  // trusted instead of the machine's certificates
  std::string cert_file{};
  std::string key_file{};
  TlsCheck tls_check = TlsCheck::kFull;
  std::string proxy{};  // the environment's proxies are not asked
  std::int64_t connect_timeout_ms = 5'000;
  std::int64_t timeout_ms = 15'000;
  std::stop_token stop{};  // ends the request within about a second
};

struct HttpOutcome {
  int status = 0;      // 0: no answer came, see `error`
  std::string body{};  // at most kAnswerLimitBytes; the rest is thrown away
  std::optional<std::int64_t> retry_after_s{};
  std::string error{};  // one line; of the address it says scheme, host and port alone
};

// Scheme, host and port of an address: all that may be shown of it.
std::string shown_address(std::string_view url);

// Seconds to wait as a Retry-After header has it: a number, or a date against `wall_ns`. Nothing
// for other text; a date that is past is 0.
std::optional<std::int64_t> parse_retry_after(std::string_view text, std::int64_t wall_ns);

// Sends requests one after another and keeps connections open between them. No redirect is
// followed: an address that says "elsewhere" answers 3xx and that is the outcome. One thread at a
// time. libcurl is loaded at the first open() of the process: of the programs that are one with
// this, most never send anything.
class HttpClient {
 public:
  // kNotSupported: no libcurl on this machine, with the package to install as hint.
  static base::Result<HttpClient> open(base::Clock wall_ns = base::walltime_ns);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  // Blocks until the answer is there, a timeout passes or `stop` asks for an end. Sends it once.
  HttpOutcome post(const HttpRequest& request);

 private:
  struct State;
  explicit HttpClient(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace everywatt::outgoing
